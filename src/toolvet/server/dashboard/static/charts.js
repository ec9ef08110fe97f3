"use strict";
// Draws the charts from the numbers beside them. Without this the tables are there.
(() => {
  const figures = Array.from(document.querySelectorAll("[data-chart]"));
  if (!figures.length || !window.uPlot) return;
  const short = (value) => (value >= 1e6 ? `${+(value / 1e6).toFixed(1)}M` : value >= 1e4 ? `${+(value / 1e3).toFixed(1)}k` : `${+value.toFixed(2)}`);
  const shown = {
    count: short,
    share: (value) => `${+(value * 100).toFixed(1)} %`,
    score: (value) => value.toFixed(2),
    seconds: (value) => (value >= 60 ? `${+(value / 60).toFixed(1)} min` : value >= 1 ? `${+value.toFixed(1)} s` : `${+(value * 1000).toFixed(1)} ms`),
  };
  const colour = (name) => {
    // light-dark() must be computed: a canvas does not know it.
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color;
  };
  const probe = document.createElement("span");
  probe.hidden = true;
  document.body.append(probe);
  const faded = (rgb, share) => rgb.replace("rgb(", "rgba(").replace(")", `, ${share})`);
  const read = (figure) => JSON.parse(figure.querySelector("script").textContent);
  const columns = (data) => [data.at, ...data.lines.map((line) => line.values)];
  const height = (figure) => (figure.classList.contains("wide") ? 220 : 170);
  const drawn = new Map();
  // uPlot's rows: from this many seconds between two marks on, the words of a mark, and what a new year or day adds.
  const day = "\n{MM}-{DD}";
  const date = "\n{YYYY}-{MM}-{DD}";
  const times = [
    [86400 * 365, "{YYYY}", null, null, null, null, null, null, 1],
    [86400, "{MM}-{DD}", "\n{YYYY}", null, null, null, null, null, 1],
    [60, "{HH}:{mm}", date, null, day, null, null, null, 1],
    [1, "{HH}:{mm}:{ss}", date, null, day, null, null, null, 1],
  ];

  const draw = (figure) => {
    const data = read(figure);
    const box = figure.querySelector(".plot");
    const say = shown[data.unit];
    const grid = { stroke: colour("--line"), width: 1 };
    const axis = { stroke: colour("--faint"), grid, ticks: { show: false }, font: "12px system-ui, sans-serif" };
    const series = data.lines.map((line, place) => {
      const stroke = colour(line.colour);
      const common = { label: line.label, stroke, value: (_, value) => (value == null ? "–" : say(value)), spanGaps: true };
      if (line.is_before) return { ...common, width: 1.25, dash: [4, 4], points: { show: false } };
      return { ...common, width: 2, fill: place === 0 ? faded(stroke, 0.12) : undefined, points: { show: line.values.filter((value) => value != null).length < 3 || undefined, size: 6 } };
    });
    const top = { count: 4, share: 0.05, score: 1, seconds: 0.01 }[data.unit];
    const chart = new uPlot({
      width: Math.max(box.clientWidth, 120),
      height: height(figure),
      padding: [12, 24, 0, 0],
      legend: { live: true, markers: { dash: (chart, place) => (chart.series[place].dash ? "dashed" : "solid") } },
      cursor: { y: false, points: { size: 7 } },
      scales: { x: { time: true }, y: { range: (_, low, high) => [0, data.unit === "score" ? 1 : Math.max(top, (high ?? 0) * 1.08)] } },
      axes: [{ ...axis, space: 60, values: times }, { ...axis, size: 56, space: 34, values: (_, values) => values.map(say) }],
      series: [{ label: "from", value: "{YYYY}-{MM}-{DD} {HH}:{mm}" }, ...series],
    }, columns(data), box);
    drawn.set(figure, chart);
  };
  const drawAll = () => {
    for (const chart of drawn.values()) chart.destroy();
    drawn.clear();
    figures.forEach(draw);
  };
  drawAll();

  let width = innerWidth;
  let waiting = 0;
  addEventListener("resize", () => {
    if (innerWidth === width) return;
    width = innerWidth;
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      // Smaller first: a canvas would keep its column from shrinking.
      for (const chart of drawn.values()) chart.setSize({ width: 120, height: 120 });
      for (const [figure, chart] of drawn) chart.setSize({ width: figure.querySelector(".plot").clientWidth, height: height(figure) });
    }, 100);
  });
  document.addEventListener("toolvet:theme", drawAll);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  // live.js has put new numbers beside a chart.
  document.addEventListener("toolvet:chart", (event) => {
    const chart = drawn.get(event.target);
    if (!chart) return;
    chart.setData(columns(read(event.target)));
    event.target.dataset.updated = String(Number(event.target.dataset.updated || 0) + 1);
  });
})();
