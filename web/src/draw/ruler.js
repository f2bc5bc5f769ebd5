// SPDX-License-Identifier: Apache-2.0
// A ruler between two places on bodies. Its ends stay on the bodies where they were set, so the distance is one
// over time.
import * as THREE from "three";
import { createLines } from "./lines.js";

export const createRuler = (bodies, scene) => {
  let lines = null;
  const size = new THREE.Vector2(1, 1);
  const colour = new THREE.Color();
  const ends = []; // {body, local}
  const q = new THREE.Quaternion();
  const places = [new THREE.Vector3(), new THREE.Vector3()];
  const turnOf = (body) => {
    const { q: turn } = bodies.poses;
    return q.set(turn[4 * body + 1], turn[4 * body + 2], turn[4 * body + 3], turn[4 * body]);
  };
  const origin = new THREE.Vector3();
  const place = () => {
    ends.forEach(({ body, local }, k) => {
      places[k].copy(local).applyQuaternion(turnOf(body));
      places[k].add(origin.fromArray(bodies.poses.p, 3 * body));
    });
    if (!lines) return;
    lines.begin();
    if (ends.length === 2) lines.add(places[0], places[1]);
    lines.end();
  };
  return {
    place,
    places,
    get count() {
      return ends.length;
    },
    // one more end; a third begins anew
    add: (body, point) => {
      lines ??= createLines(scene, 1, { width: 2.5 });
      lines.setSize(size.x, size.y);
      lines.material.color.copy(colour);
      if (ends.length === 2) ends.length = 0;
      const local = point.clone().sub(origin.fromArray(bodies.poses.p, 3 * body));
      ends.push({ body, local: local.applyQuaternion(turnOf(body).invert()) });
      place();
    },
    clear: () => {
      ends.length = 0;
      place();
    },
    // m, with its parts along the axes; null without two ends
    distance: () => {
      if (ends.length < 2) return null;
      const d = origin.subVectors(places[1], places[0]);
      return { length: d.length(), parts: [d.x, d.y, d.z], bodies: ends.map((e) => e.body) };
    },
    setSize: (w, h) => {
      size.set(w, h);
      lines?.setSize(w, h);
    },
    setTheme: (theme) => {
      colour.set(theme.ruler);
      lines?.material.color.copy(colour);
    },
  };
};
