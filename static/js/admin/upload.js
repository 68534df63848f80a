/** The import form: a place to drop a zip, and a bar that shows how much of it has arrived. */

/** What is sent and shown, for one form on the page. */
function start(form) {
  const input = form.querySelector('input[type="file"]');
  const upload = form.querySelector("[data-upload]");
  const bar = upload.querySelector("[data-upload-bar]");

  function say(sentence, share = 0) {
    upload.hidden = false;
    upload.querySelector("[data-upload-text]").textContent = sentence;
    bar.value = share;
  }

  makeDropZone(input, say);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send(form, say);
  });
}

function makeDropZone(input, say) {
  const zone = input.closest(".form-row");
  zone.classList.add("drop-zone");
  zone.addEventListener("dragover", (event) => {
    event.preventDefault();
    zone.classList.add("is-over");
  });
  zone.addEventListener("dragleave", () => zone.classList.remove("is-over"));
  zone.addEventListener("drop", (event) => {
    event.preventDefault();
    zone.classList.remove("is-over");
    if (event.dataTransfer.files.length === 1) input.files = event.dataTransfer.files;
    else say("Drop one zip file. Zip the folder first if you have several images.");
  });
}

function send(form, say) {
  const request = new XMLHttpRequest();
  request.open("POST", window.location.href);
  request.upload.addEventListener("progress", ({ loaded, total }) => {
    const megabytes = (bytes) => (bytes / 1e6).toFixed(1);
    say(`${megabytes(loaded)} of ${megabytes(total)} MB uploaded.`, loaded / total);
  });
  request.addEventListener("error", () =>
    say("The upload was interrupted. Check the connection and press Import again."),
  );
  request.addEventListener("load", () => followReply(request, say));
  say("Sending …");
  request.send(new FormData(form));
}

/** A redirect leads to the import's page; anything else is this form again, with its errors. */
function followReply(request, say) {
  if (request.responseURL !== window.location.href) {
    window.location.assign(request.responseURL);
    return;
  }
  const reply = new DOMParser().parseFromString(request.responseText, "text/html");
  const content = reply.querySelector("#content");
  if (!content) {
    say("The server could not take the file. Try again, or import it from the command line.");
    return;
  }
  document.querySelector("#content").replaceWith(content);
  start(content.querySelector("form[enctype]"));
  content.querySelector(".errornote")?.scrollIntoView();
}

start(document.querySelector("#import_form"));
