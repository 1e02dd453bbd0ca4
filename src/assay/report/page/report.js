// Draws the charts of the page, anew when the reader's colour scheme changes.
(() => {
  const page = JSON.parse(document.getElementById("charts-data").textContent);
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const draw = () => {
    const config = dark.matches && !printing ? page.dark : page.light;
    config.legend.columns = window.innerWidth < 600 ? 1 : 3;
    for (const place of document.querySelectorAll("[data-chart]")) {
      const chart = page.charts[place.dataset.chart];
      vegaEmbed(place, { ...page.specs[chart.spec], datasets: chart.datasets }, {
        mode: "vega-lite", actions: false, renderer: "svg", config, ast: true,
      }).catch((problem) => { place.textContent = `This chart could not be drawn: ${problem.message}`; });
    }
  };
  let printing = false;
  const paper = (now) => () => { printing = now; draw(); };
  dark.addEventListener("change", draw);
  window.addEventListener("beforeprint", paper(true));
  window.addEventListener("afterprint", paper(false));
  draw();
})();
