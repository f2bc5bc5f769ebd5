// SPDX-License-Identifier: Apache-2.0
// Lines of a width in pixels, written anew for every moment without new memory.
import * as THREE from "three";
import { LineMaterial } from "three/examples/jsm/lines/LineMaterial.js";
import { LineSegments2 } from "three/examples/jsm/lines/LineSegments2.js";
import { LineSegmentsGeometry } from "three/examples/jsm/lines/LineSegmentsGeometry.js";

// Room for `count` segments. `begin`, then `add` two points for each, then `end`.
export const createLines = (scene, count, { width, coloured = false, over = true, opacity = 1 }) => {
  const geometry = new LineSegmentsGeometry();
  geometry.setPositions(new Float32Array(6 * count));
  if (coloured) geometry.setColors(new Float32Array(6 * count));
  const places = geometry.attributes.instanceStart.data;
  const colours = coloured ? geometry.attributes.instanceColorStart.data : null;
  places.setUsage(THREE.DynamicDrawUsage);
  colours?.setUsage(THREE.DynamicDrawUsage);
  const material = new LineMaterial({
    linewidth: width,
    vertexColors: coloured,
    depthTest: !over,
    transparent: true,
    opacity,
  });
  const lines = new LineSegments2(geometry, material);
  lines.frustumCulled = false;
  lines.renderOrder = 5;
  scene.add(lines);
  let used = 0;
  return {
    lines,
    material,
    begin: () => (used = 0),
    add: (a, b, colourA, colourB) => {
      if (used >= count) return;
      a.toArray(places.array, 6 * used);
      b.toArray(places.array, 6 * used + 3);
      colourA?.toArray(colours.array, 6 * used);
      (colourB ?? colourA)?.toArray(colours.array, 6 * used + 3);
      used++;
    },
    end: () => {
      geometry.instanceCount = used;
      places.needsUpdate = true;
      if (colours) colours.needsUpdate = true;
    },
    setSize: (w, h) => material.resolution.set(w, h),
  };
};
