(function () {
  "use strict";
  var $ = function (id) { return document.getElementById(id); };
  var all = function (what, root) { return Array.prototype.slice.call((root || document).querySelectorAll(what)); };
  var panel = $("panel"), from = null;

  function show(relation, link) {
    if (!panel || !panel.show) return false;
    if (!panel.contains(link)) from = link;
    $("panel-title").textContent = relation.querySelector(".words").textContent;
    $("panel-body").replaceChildren(relation.querySelector(".body").cloneNode(true));
    if (!panel.open) panel.show();
    panel.scrollTop = 0;
    $("close").focus();
    return true;
  }

  function hide() {
    if (panel && panel.open) panel.close();
    if (from) from.focus();
    from = null;
  }

  function reveal() {
    var target = location.hash.length > 1 && $(decodeURIComponent(location.hash.slice(1)));
    for (var part = target; part; part = part.parentElement) if (part.tagName === "DETAILS") part.open = true;
    if (target && target.tagName === "DETAILS") {
      target.scrollIntoView({block: "start"});
      target.querySelector("summary").focus({preventScroll: true});
    }
  }

  document.addEventListener("click", function (event) {
    var link = event.target.closest && event.target.closest("a[data-tie]");
    if (!link) return;
    var relation = $(link.dataset.tie);
    if (relation && show(relation, link)) event.preventDefault();
  });
  document.addEventListener("keydown", function (event) { if (event.key === "Escape") hide(); });
  if ($("close")) $("close").addEventListener("click", hide);
  window.addEventListener("hashchange", reveal);
  reveal();

  all("button[data-fold]").forEach(function (button) {
    button.addEventListener("click", function () {
      all("details." + button.dataset.what).forEach(function (part) { part.open = button.dataset.fold === "open"; });
    });
  });

  var search = $("search"), only = "";

  function filter() {
    var words = search.value.toLowerCase().split(/\s+/).filter(Boolean), found = 0;
    all("[data-search]").forEach(function (part) {
      var told = part.dataset.search.toLowerCase(), states = part.dataset.states;
      var hit = words.every(function (word) { return told.indexOf(word) >= 0; })
        && (!only || states === undefined || states.split(" ").indexOf(only) >= 0);
      part.classList.toggle("miss", !hit);
      if (hit && part.classList.contains("relation")) found += 1;
    });
    $("found").textContent = words.length || only ? found + " found" : "";
  }

  if (search) search.addEventListener("input", filter);
  var buttons = all("button[data-only]");
  buttons.forEach(function (button) {
    button.addEventListener("click", function () {
      only = button.dataset.only;
      buttons.forEach(function (other) { other.setAttribute("aria-pressed", other === button); });
      filter();
    });
  });

  var folded = [];
  window.addEventListener("beforeprint", function () {
    folded = all("details:not(.stays):not([open])");
    folded.forEach(function (part) { part.open = true; });
  });
  window.addEventListener("afterprint", function () { folded.forEach(function (part) { part.open = false; }); });
})();
