/** The set-up of a study: the paper's settings at the press of a button, the order of teachers, checks while you type. */

const PAUSE_MS = 350;

const form = document.getElementById("study_form");
const inWords = form.querySelector("[data-check-url]");
const touched = new Set();
let timer = 0;
let running = new AbortController();

// A form that came back with errors is not new: everything in it was meant.
const wasSent = form.querySelector(".errornote") !== null;

function rowOf(name) {
  return form.querySelector(`.form-row.field-${CSS.escape(name)}`);
}

/** An empty field that nobody has been to is not wrong yet. */
function isQuiet(name) {
  if (wasSent || touched.has(name)) return false;
  const field = form.elements[name];
  return Boolean(field) && "value" in field && field.value === "";
}

function listOf(sentences) {
  return sentences.map((sentence) => {
    const item = document.createElement("li");
    item.textContent = sentence;
    return item;
  });
}

function showErrors(errors) {
  for (const row of form.querySelectorAll("fieldset .form-row")) {
    row.classList.remove("errors");
    row.querySelector(":scope > .errorlist")?.remove();
  }
  for (const field of form.querySelectorAll("[aria-invalid]")) field.removeAttribute("aria-invalid");
  for (const [name, reasons] of Object.entries(errors)) {
    const row = rowOf(name);
    if (!row || isQuiet(name)) continue;
    const list = document.createElement("ul");
    list.className = "errorlist";
    list.append(...listOf(reasons));
    row.prepend(list);
    row.classList.add("errors");
    form.elements[name]?.setAttribute?.("aria-invalid", "true");
  }
}

function showWords(summary) {
  const sentence = inWords.querySelector("[data-sentence]");
  const words = summary?.sentence ?? "Correct the marked settings to see the study in words.";
  if (sentence.textContent !== words) sentence.textContent = words;
  inWords.querySelector("[data-advice]").textContent = summary?.advice ?? "";
}

function showList(name, sentences) {
  const box = inWords.querySelector(`[${name}]`);
  if (!box) return;
  box.hidden = sentences.length === 0;
  box.querySelector("ul").replaceChildren(...listOf(sentences));
}

/** The rate that the data set suggests stands in the empty field, and the choice of another data set changes it. */
function showSuggestion(suggested, question) {
  const field = form.elements.learning_rate;
  field.placeholder = suggested;
  const note = field.parentElement.querySelector("[data-rate-note]");
  note.textContent = suggested && (field.value === "" ? "as the data set suggests" : `the data set suggests ${suggested}`);
  note.classList.toggle("is-doubtful", question !== "");
}

function showRate({ suggested, sentence, question }) {
  inWords.querySelector("[data-rate]").textContent = sentence;
  showList("data-rate-question", question ? [question] : []);
  showSuggestion(suggested, question);
}

async function check() {
  running.abort();
  running = new AbortController();
  try {
    const options = { method: "POST", body: new FormData(form), signal: running.signal };
    const reply = await fetch(inWords.dataset.checkUrl, options);
    if (!reply.ok) return;
    const { errors, summary, rate, warnings, changes } = await reply.json();
    showErrors(errors);
    showWords(summary);
    showRate(rate);
    showList("data-warnings", warnings);
    showList("data-changes", changes);
  } catch {
    // A newer check is on its way, or the server is away: saving checks everything once more.
  }
}

function checkSoon() {
  clearTimeout(timer);
  timer = setTimeout(check, PAUSE_MS);
}

function noticeChange({ target }) {
  if (!target.name) return;
  touched.add(target.name);
  checkSoon();
}

const teachers = form.querySelector("[data-teachers]");

function numberTeachers() {
  [...teachers.children].forEach((row, place) => {
    row.querySelector("input[type=number]").value = place + 1;
    row.querySelector("[data-move='-1']").disabled = place === 0;
    row.querySelector("[data-move='1']").disabled = place === teachers.children.length - 1;
  });
}

function moveTeacher({ target }) {
  const button = target.closest("[data-move]");
  if (!button) return;
  const row = button.closest("li");
  if (button.dataset.move === "1") row.nextElementSibling.after(row);
  else row.previousElementSibling.before(row);
  numberTeachers();
  (button.disabled ? row.querySelector("[data-move]:enabled") : button).focus();
  checkSoon();
}

function setTeachers(names) {
  const rows = new Map([...teachers.children].map((row) => [row.querySelector("[type=checkbox]").value, row]));
  for (const [name, row] of rows) row.querySelector("[type=checkbox]").checked = names.includes(name);
  const others = [...rows.keys()].filter((name) => !names.includes(name));
  teachers.append(...[...names, ...others].map((name) => rows.get(name)));
  numberTeachers();
}

function setField(name, value) {
  const field = form.elements[name];
  if (name === "arms") setTeachers(value.split(","));
  else if (field.type === "checkbox") field.checked = value;
  else field.value = value ?? "";
}

function usePaperSettings() {
  const paper = JSON.parse(document.getElementById("paper-settings").textContent);
  for (const [name, value] of Object.entries(paper)) setField(name, value);
  check();
}

if (teachers) {
  for (const row of teachers.children) {
    row.querySelector(".teacher-place").hidden = true;
    row.querySelector(".teacher-moves").hidden = false;
  }
  numberTeachers();
  teachers.addEventListener("click", moveTeacher);
}
const question = inWords.querySelector("[data-rate-question] li")?.textContent ?? "";
showSuggestion(inWords.querySelector("[data-rate]").dataset.suggested, question);
const paperBox = inWords.querySelector("[data-paper]");
paperBox.hidden = false;
paperBox.querySelector("button").addEventListener("click", usePaperSettings);
form.addEventListener("input", noticeChange);
form.addEventListener("change", noticeChange);
