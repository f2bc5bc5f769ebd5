// SPDX-License-Identifier: Apache-2.0
// The clock of the playback: a simulated time, whether it runs, and how fast. Everybody who shows a
// moment listens to it.

export const RATES = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8];

// The frame at or before a time, and how far (0 .. 1) it is to the next.
export const locateIn = (times, time) => {
  let low = 0;
  let high = times.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (times[middle] <= time) low = middle;
    else high = middle - 1;
  }
  const next = Math.min(low + 1, times.length - 1);
  const span = times[next] - times[low];
  const share = span > 0 ? Math.min(Math.max((time - times[low]) / span, 0), 1) : 0;
  return { frame: low, next, share };
};

// `times` of the frames; of two runs the clock goes from the first begin to the last end.
export const createPlayer = (times, others = []) => {
  const first = Math.min(times[0], ...others.map((t) => t[0]));
  const last = Math.max(times[times.length - 1], ...others.map((t) => t[t.length - 1]));
  const listeners = [];
  const state = { time: first, playing: false, rate: 1, loop: true };

  const tell = () => listeners.forEach((f) => f(state));

  const locate = (time) => locateIn(times, time);

  const player = {
    first,
    last,
    state,
    locate,
    listen: (f) => listeners.push(f),
    seek: (time) => {
      state.time = Math.min(Math.max(time, first), last);
      tell();
    },
    seekFrame: (frame) =>
      player.seek(times[Math.min(Math.max(Math.round(frame), 0), times.length - 1)]),
    // whole frames from the one shown
    step: (count) => {
      player.pause();
      const { frame, share } = locate(state.time);
      player.seekFrame(count < 0 && share > 0 ? frame + count + 1 : frame + count);
    },
    play: () => {
      if (last <= first) return;
      if (state.time >= last) state.time = first;
      state.playing = true;
      tell();
    },
    pause: () => {
      state.playing = false;
      tell();
    },
    toggle: () => (state.playing ? player.pause() : player.play()),
    setRate: (rate) => {
      state.rate = rate;
      tell();
    },
    faster: (by) => {
      const now = RATES.findIndex((r) => r >= state.rate);
      player.setRate(RATES[Math.min(Math.max(now + by, 0), RATES.length - 1)]);
    },
    setLoop: (loop) => {
      state.loop = loop;
      tell();
    },
    // Seconds of a watch later. A slow machine shows fewer pictures, not slower motion; long pauses (a hidden
    // tab) do not jump, and no watch goes backward.
    advance: (elapsed) => {
      if (!state.playing) return;
      state.time += Math.min(Math.max(elapsed, 0), 0.5) * state.rate;
      if (state.time >= last) {
        state.time = state.loop ? first : last;
        state.playing = state.loop;
      }
      tell();
    },
  };
  return player;
};
