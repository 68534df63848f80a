/** The import form: a place to drop a zip, and a bar that shows how much of it has arrived. */

const SIGNED_OUT = "You are signed out. Sign in on a new tab, then press Import again here.";

/** What is sent and shown, for one form on the page. */
function start(form) {
  const input = form.querySelector('input[type="file"]');
  const upload = form.querySelector("[data-upload]");
  const bar = upload.querySelector("[data-upload-bar]");

  function say(sentence, share = 0) {
    upload.hidden = false;
    upload.querySelector("[data-upload-text]").textContent = sentence;
    upload.querySelector("[data-sign-in]").hidden = sentence !== SIGNED_OUT;
    bar.value = share;
  }

  makeDropZone(input, say);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const problem = await renewSignIn(form);
    if (problem) say(problem);
    else send(form, say);
  });
}

/**
 * Loads the form again before the upload starts: this renews the sign-in for longer than any upload takes, and gets the
 * CSRF token of whoever is signed in now. Returns why the upload cannot start.
 */
async function renewSignIn(form) {
  try {
    const reply = await fetch(window.location.href);
    if (reply.redirected) return SIGNED_OUT;
    if (!reply.ok) return "The server cannot take a file now. Press Import again in a moment.";
    const page = new DOMParser().parseFromString(await reply.text(), "text/html");
    const token = (root) => root.querySelector("#import_form [name=csrfmiddlewaretoken]");
    token(form.parentNode).value = token(page).value;
    return "";
  } catch {
    return "The server cannot be reached. Check the connection and press Import again.";
  }
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

/** A redirect leads to the import's page or to the sign-in; anything else is this form again, with its errors. */
function followReply(request, say) {
  if (new URL(request.responseURL).pathname === document.querySelector("[data-sign-in]").pathname) {
    say(SIGNED_OUT);
    return;
  }
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
