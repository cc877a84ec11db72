"use strict";
(() => {
  const svg = document.getElementById("line");
  if (svg) timeline(svg);
  follow();
  search();
  print();

  // Zoom and pan change the view box; dots keep their size by their strokes, arrow heads and ticks are set here.
  function timeline(svg) {
    const full = { x: 0, w: 1000 }, height = svg.viewBox.baseVal.height, least = 0.02;
    const unit = svg.dataset.unit, plain = [];
    for (let power = -3; power < 9; power++) for (const digit of [1, 2, 5]) plain.push(digit * 10 ** power);
    const start = +svg.dataset.start, end = +svg.dataset.end, axis = document.getElementById("axis");
    const steps = [.001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800,
      3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800, 1209600, 2592000, 7776000, 31536000];
    let view = { x: svg.viewBox.baseVal.x, w: svg.viewBox.baseVal.width }, drag = null, moved = false;
    for (const title of svg.querySelectorAll("title")) {
      title.parentNode.dataset.tip = title.textContent;
      title.remove();
    }

    function show(x, w) {
      w = Math.min(full.w, Math.max(least, w));
      view = { x: Math.min(Math.max(0, x), full.w - w), w };
      svg.setAttribute("viewBox", `${view.x} 0 ${view.w} ${height}`);
      refresh();
    }
    function refresh() {
      const pixels = svg.clientWidth || 1000, k = view.w / pixels;
      for (const head of svg.querySelectorAll(".head")) {
        const x = +head.dataset.x, y = +head.dataset.y, angle = arrival(head.dataset.from, k) * 180 / Math.PI;
        head.setAttribute("transform", `translate(${x} ${y}) scale(${k} 1) rotate(${angle})`);
      }
      ticks(pixels);
    }
    // The direction in which a curve comes in over its last ten pixels; k is what a pixel is wide.
    function arrival(path, k) {
      const [a, b, p, q, r, s, c, d] = path.match(/-?[\d.e-]+/g).map(Number);
      let dx = c - a, dy = d - b;
      for (let t = .98; t > 0; t -= .02) {
        const u = 1 - t, mix = (e, f, g, h) => u * u * u * e + 3 * u * u * t * f + 3 * u * t * t * g + t * t * t * h;
        dx = (c - mix(a, p, r, c)) / k;
        dy = d - mix(b, q, s, d);
        if (Math.hypot(dx, dy) > 10) break;
      }
      return Math.atan2(dy, dx);
    }
    function ticks(pixels) {
      const first = start + (end - start) * view.x / full.w, seconds = (end - start) * view.w / full.w;
      const step = (unit === "time" ? steps : plain).find(s => (s >= 1 || unit !== "line") && seconds / s <= Math.max(3, pixels / 130)) || steps[steps.length - 1];
      axis.textContent = "";
      const edge = seconds * Math.min(.1, 30 / pixels);
      for (let at = Math.ceil((first + edge) / step) * step; at <= first + seconds - edge; at += step) {
        const text = document.createElementNS("http://www.w3.org/2000/svg", "text");
        text.setAttribute("x", `${(at - first) / seconds * 100}%`);
        text.setAttribute("y", "15");
        text.textContent = label(at, step);
        axis.append(text);
      }
    }
    function label(at, step) {
      if (unit !== "time") return unit === "line" ? `line ${Math.round(at)}` : `${+at.toFixed(3)} s`;
      const iso = new Date(Math.round(at * 1000)).toISOString(), time = iso.slice(11, 23);
      if (step >= 86400) return iso.slice(0, 10);
      if (step >= 60) return time.startsWith("00:00") ? iso.slice(5, 10) : time.slice(0, 5);
      return step >= 1 ? time.slice(0, 8) : time;
    }
    const zoom = (factor, share) => show(view.x + view.w * share * (1 - factor), view.w * factor);
    const share = event => (event.clientX - svg.getBoundingClientRect().left) / svg.clientWidth;

    svg.addEventListener("wheel", event => {
      if (event.deltaY > 0 && view.w >= full.w) return;
      event.preventDefault();
      zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY / 240))), share(event));
    }, { passive: false });
    svg.addEventListener("pointerdown", event => { drag = { at: event.clientX, x: view.x, id: event.pointerId }; moved = false; });
    svg.addEventListener("pointermove", event => {
      if (!drag || !event.buttons) { drag = null; return; }
      const by = event.clientX - drag.at;
      if (!moved && Math.abs(by) < 4) return;
      if (!moved) { moved = true; svg.setPointerCapture(drag.id); svg.classList.add("moving"); tip.hidden = true; }
      show(drag.x - by / svg.clientWidth * view.w, view.w);
    });
    for (const kind of ["pointerup", "pointercancel"]) {
      svg.addEventListener(kind, () => { drag = null; svg.classList.remove("moving"); });
    }
    svg.addEventListener("dragstart", event => event.preventDefault());
    svg.addEventListener("click", event => { if (moved) { event.preventDefault(); event.stopPropagation(); moved = false; } }, true);
    svg.addEventListener("keydown", event => {
      const act = { "+": () => zoom(.6, .5), "-": () => zoom(1 / .6, .5), ArrowLeft: () => show(view.x - view.w / 5, view.w), ArrowRight: () => show(view.x + view.w / 5, view.w) }[event.key];
      if (act) { event.preventDefault(); act(); }
    });
    document.getElementById("closer").addEventListener("click", () => zoom(.5, .5));
    document.getElementById("wider").addEventListener("click", () => zoom(2, .5));
    document.getElementById("all").addEventListener("click", () => show(0, full.w));

    const tip = document.getElementById("tip"), box = tip.parentNode;
    const told = target => { const mark = target.closest("[data-tip], .mark"); return mark && (mark.dataset.tip || mark.getAttribute("aria-label")); };
    function point(text, x, y) {
      tip.textContent = text;
      tip.hidden = false;
      tip.style.left = `${Math.max(4, Math.min(x + 12, box.clientWidth - tip.offsetWidth - 4))}px`;
      tip.style.top = `${Math.max(2, Math.min(y + 14, box.clientHeight - tip.offsetHeight - 2))}px`;
    }
    svg.addEventListener("pointerover", event => {
      const text = !moved && told(event.target), at = box.getBoundingClientRect();
      if (text) point(text, event.clientX - at.left, event.clientY - at.top); else tip.hidden = true;
    });
    svg.addEventListener("pointerleave", () => { tip.hidden = true; });
    svg.addEventListener("focusin", event => {
      const text = told(event.target), at = box.getBoundingClientRect(), mark = event.target.getBoundingClientRect();
      if (text && event.target.matches(":focus-visible")) point(text, mark.left - at.left, mark.top - at.top);
    });
    svg.addEventListener("focusout", () => { tip.hidden = true; });
    new ResizeObserver(refresh).observe(svg);
    refresh();
  }

  // A link to a source opens it and shows the line.
  function follow() {
    document.addEventListener("click", event => {
      const link = event.target.closest("a[href^='#']");
      if (link) reveal(link.getAttribute("href").slice(1), +link.dataset.line);
    });
    if (location.hash) reveal(location.hash.slice(1), 0);
  }
  function reveal(id, line) {
    const target = document.getElementById(id);
    for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    if (target && line && target.classList.contains("source")) lit(target, line);
  }
  function lit(source, line) {
    const pre = source.querySelector(".text"), node = pre.firstChild, text = node.data, raw = source.querySelector(".raw");
    let from = 0;
    for (let n = 1; n < line && from >= 0; n++) from = text.indexOf("\n", from) + 1 || -1;
    if (from < 0) return;
    const end = text.indexOf("\n", from), range = new Range();
    range.setStart(node, from);
    range.setEnd(node, end < 0 ? text.length : end);
    if (window.Highlight && CSS.highlights) CSS.highlights.set("line", new Highlight(range));
    const lineBox = range.getBoundingClientRect();
    raw.scrollTop += lineBox.top - raw.getBoundingClientRect().top - raw.clientHeight / 3;
  }

  function search() {
    const find = document.getElementById("find");
    if (!find) return;
    const found = document.getElementById("found"), hits = document.getElementById("hits"), most = 100;
    const sources = [...document.querySelectorAll(".source")].map(one => ({ id: one.id, name: one.dataset.name, lines: null, one }));
    find.addEventListener("input", () => {
      const word = find.value.toLowerCase();
      let count = 0;
      found.textContent = "";
      if (word.length > 1) for (const source of sources) {
        source.lines = source.lines || source.one.querySelector(".text").textContent.split("\n");
        source.lines.forEach((text, at) => { if (text.toLowerCase().includes(word) && ++count <= most) found.append(row(source, at + 1, text)); });
      }
      hits.textContent = word.length > 1 ? `${count} ${count === 1 ? "line" : "lines"}${count > most ? `, the first ${most} shown` : ""}` : "";
    });
    function row(source, line, text) {
      const item = document.createElement("li"), link = document.createElement("a"), code = document.createElement("span");
      link.href = "#" + source.id; link.dataset.line = line; link.className = "at"; link.textContent = `${source.name}:${line}`;
      code.className = "text"; code.textContent = text.slice(0, 300);
      item.append(link, code);
      return item;
    }
  }

  function print() {
    const closed = () => document.querySelectorAll("section:not(#sources) details:not([open])");
    let opened = [];
    addEventListener("beforeprint", () => { opened = [...closed()].filter(one => one.querySelectorAll("tr").length < 120); for (const one of opened) one.open = true; });
    addEventListener("afterprint", () => { for (const one of opened) one.open = false; });
  }
})();
