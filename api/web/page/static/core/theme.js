// Light or dark as chosen before, set before anything is painted.
document.documentElement.dataset.theme = localStorage.getItem("lanista-theme") ?? "auto";
