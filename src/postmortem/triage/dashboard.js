"use strict";
(() => {
  const all = JSON.parse(document.getElementById("data").textContent), page = 100;
  const body = document.getElementById("rows"), more = document.getElementById("more");
  const filter = document.getElementById("filter"), group = document.getElementById("group");
  const PATH = 0, STATUS = 1, SUMMARY = 5, ERROR = 6, GROUP = 7, REPORT = 8;
  let shown = page, column = -1, down = false;

  function matching() {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    let rows = all.filter((row) => (!group.value || row[GROUP] === group.value)
      && words.every((word) => row.some((cell) => cell.toLowerCase().includes(word))));
    if (column >= 0) {
      const sign = down ? -1 : 1;
      rows = rows.slice().sort((a, b) => sign * a[column].localeCompare(b[column], "en", { numeric: true }));
    }
    return rows;
  }
  function cell(row, at) {
    const td = document.createElement("td"), text = at === SUMMARY ? row[ERROR] || row[SUMMARY] : row[at];
    if (at === PATH && row[REPORT]) {
      const link = document.createElement("a");
      link.href = "reports/" + row[REPORT] + ".html";
      link.textContent = text;
      td.append(link);
    } else {
      td.textContent = text;
    }
    if (at === STATUS) td.className = row[STATUS];
    return td;
  }
  function draw() {
    const rows = matching();
    body.replaceChildren(...rows.slice(0, shown).map((row) => {
      const tr = document.createElement("tr");
      for (let at = 0; at <= SUMMARY; at++) tr.append(cell(row, at));
      return tr;
    }));
    document.getElementById("count").textContent = `${rows.length.toLocaleString("en")} of ${all.length.toLocaleString("en")}`;
    more.hidden = rows.length <= shown;
  }
  function sort(th) {
    const at = +th.dataset.column;
    down = column === at && !down;
    column = at;
    for (const other of document.querySelectorAll("th[data-column]")) other.removeAttribute("aria-sort");
    th.setAttribute("aria-sort", down ? "descending" : "ascending");
    draw();
  }
  for (const th of document.querySelectorAll("th[data-column]")) {
    th.addEventListener("click", () => sort(th));
    th.addEventListener("keydown", (event) => { if (event.key === "Enter") sort(th); });
  }
  for (const input of [filter, group]) input.addEventListener("input", () => { shown = page; draw(); });
  more.addEventListener("click", () => { shown += page; draw(); });
  draw();
})();
