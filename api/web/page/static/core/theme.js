// Sets the stored theme before the first paint.
document.documentElement.dataset.theme = localStorage.getItem("lanista-theme") ?? "auto";
