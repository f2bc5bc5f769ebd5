// SPDX-License-Identifier: Apache-2.0
// Joints: their axes, planes and points on the bodies, and a line from one frame to the other, which is a
// link or a rope where two points are held apart, and a gap where they should not be. Springs are zigzags; a drive is
// an arrow around its axis, or along it.
import * as THREE from "three";
import { createLines } from "./lines.js";

const DRAW = { point: 0, axis: 1, link: 2, square: 3, spring: 4 };
const COILS = 14; // corners of a zigzag
const MOST = 5000; // joints that are drawn
const ARC = 14; // sides of the arrow around an axis

// Lines of a joint in its frame a, in units of the mark: pairs of points.
const ring = (radius, z, sides, part = 1) => {
  const points = [];
  for (let k = 0; k < sides; k++)
    for (const e of [k, k + 1]) {
      const angle = (2 * Math.PI * part * e) / sides;
      points.push(radius * Math.cos(angle), radius * Math.sin(angle), z);
    }
  return points;
};
const STROKES = {
  [DRAW.point]: [-0.3, 0, 0, 0.3, 0, 0, 0, -0.3, 0, 0, 0.3, 0, 0, 0, -0.3, 0, 0, 0.3],
  [DRAW.axis]: [0, 0, -1, 0, 0, 1, ...ring(0.3, 0, 12)],
  [DRAW.link]: [],
  [DRAW.spring]: [],
  [DRAW.square]: [
    -0.7, -0.7, 0, 0.7, -0.7, 0, 0.7, -0.7, 0, 0.7, 0.7, 0, 0.7, 0.7, 0, -0.7, 0.7, 0, -0.7, 0.7, 0,
    -0.7, -0.7, 0,
  ],
};
// An arrow around z, and one along it; the last two lines are its point.
const TURNING = [...ring(0.62, 0, ARC, 0.75), 0, -0.62, 0, -0.22, -0.8, 0, 0, -0.62, 0, -0.2, -0.42, 0];
const SLIDING = [
  0.3, 0, -0.8, 0.3, 0, 0.8, 0.3, 0, 0.8, 0.15, 0, 0.55, 0.3, 0, 0.8, 0.45, 0, 0.55, 0.3, 0, -0.8, 0.15, 0,
  -0.55, 0.3, 0, -0.8, 0.45, 0, -0.55,
];

const strokesOf = (j) => STROKES[j.draw].length / 6;
const segmentsOf = (j) =>
  strokesOf(j) +
  (j.draw === DRAW.spring ? COILS + 1 : 0) +
  (j.curves.length ? j.curves.reduce((sum, c) => sum + c.points.length / 2, 0) : 1);

export const createJoints = (data, bodies, look, scene, bounds) => {
  const list = data.joints.slice(0, MOST);
  if (!list.length) return { count: 0, place: () => {}, setTheme: () => {}, setSize: () => {}, show: () => {} };
  const mark = bounds.getSize(new THREE.Vector3()).length() / 40;
  const segments = list.reduce((sum, j) => sum + segmentsOf(j), 0);
  const driven = list.filter((j) => j.driven);
  const lines = createLines(scene, segments, { width: 2, opacity: 0.9 });
  const drives = createLines(scene, Math.max(1, (driven.length * TURNING.length) / 6), { width: 2.5 });
  let shown = true;

  const [p, q] = [new THREE.Vector3(), new THREE.Quaternion()];
  // A point of a frame on a body (-1: the ground), in the world.
  const toWorld = (point, frame, body) => {
    point.applyQuaternion(q.set(frame[4], frame[5], frame[6], frame[3]));
    point.add(p.set(frame[0], frame[1], frame[2]));
    if (body < 0) return point;
    const { p: position, q: turn } = bodies.poses;
    point.applyQuaternion(
      q.set(turn[4 * body + 1], turn[4 * body + 2], turn[4 * body + 3], turn[4 * body]),
    );
    return point.add(p.fromArray(position, 3 * body));
  };
  const [from, to, side] = [0, 1, 2].map(() => new THREE.Vector3());
  const [one, two] = [new THREE.Vector3(), new THREE.Vector3()];
  const addStrokes = (into, strokes, frame, body) => {
    for (let i = 0; i + 5 < strokes.length; i += 6) {
      one.fromArray(strokes, i).multiplyScalar(mark);
      two.fromArray(strokes, i + 3).multiplyScalar(mark);
      into.add(toWorld(one, frame, body), toWorld(two, frame, body));
    }
  };
  // Corners of a spring beside the line between its ends, straight at both of them.
  const corner = (k, out) => {
    out.lerpVectors(from, to, k / (COILS + 1));
    const off = k < 2 || k > COILS - 1 ? 0 : k % 2 ? 1 : -1;
    return out.addScaledVector(side, 0.35 * mark * off);
  };
  const addSpring = () => {
    side.subVectors(to, from);
    if (side.set(side.z, 0, -side.x).lengthSq() === 0) side.set(1, 0, 0);
    side.normalize();
    for (let k = 0; k <= COILS; k++) lines.add(corner(k, one), corner(k + 1, two));
  };
  const addCurve = ({ points }, frame, body) => {
    for (let i = 0; i + 3 < points.length; i += 2)
      lines.add(
        toWorld(one.set(points[i], points[i + 1], 0), frame, body),
        toWorld(two.set(points[i + 2], points[i + 3], 0), frame, body),
      );
  };
  const seen = ({ bodyA, bodyB }) =>
    (bodyA < 0 || look.visible(bodyA)) && (bodyB < 0 || look.visible(bodyB));
  const place = () => {
    lines.begin();
    drives.begin();
    for (const j of list) {
      if (!shown || !seen(j)) continue;
      const { draw, bodyA, bodyB, frameA, frameB } = j;
      addStrokes(lines, STROKES[draw], frameA, bodyA);
      if (j.driven) addStrokes(drives, j.driven === 2 ? SLIDING : TURNING, frameA, bodyA);
      for (const c of j.curves) addCurve(c, c.side ? frameB : frameA, c.side ? bodyB : bodyA);
      if (j.curves.length) continue;
      toWorld(from.set(0, 0, 0), frameA, bodyA);
      toWorld(to.set(0, 0, 0), frameB, bodyB);
      if (draw === DRAW.spring) addSpring();
      else lines.add(from, to);
    }
    lines.end();
    drives.end();
  };
  place();
  return {
    count: list.length,
    place,
    show: (yes) => {
      shown = yes;
      place();
    },
    setSize: (w, h) => {
      lines.setSize(w, h);
      drives.setSize(w, h);
    },
    setTheme: (theme) => {
      lines.material.color.set(theme.joint);
      drives.material.color.set(theme.drive);
    },
  };
};
