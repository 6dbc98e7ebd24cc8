for (const button of document.querySelectorAll("[data-download]")) {
  button.addEventListener("click", () => {
    const text = document.getElementById(button.dataset.download).textContent;
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
    link.download = button.dataset.name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
}
