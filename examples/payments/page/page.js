// A client by docs/client-guide.md, with everything to be seen.

const place = "payments.intent";
// A second click within this time is the same decision, also where the first one's answer has come already.
const gestureMs = 1000;
const firstPauseMs = 500;
const longestPauseMs = 4000;
const attemptMs = 60_000;
const pollMs = 1000;

const byId = (id) => document.getElementById(id);
const wait = (ms) => new Promise((done) => setTimeout(done, ms));

// ---- The intent: one key and the bytes that go with it, from the decision until the answer.

function savedIntent() {
  try {
    return JSON.parse(localStorage.getItem(place));
  } catch {
    return null;
  }
}

function saveIntent(intent) {
  localStorage.setItem(place, JSON.stringify(intent));
  showIntent();
}

// Another intent's place stays as it is.
function forgetIntent(intent) {
  if (savedIntent()?.key === intent.key) localStorage.removeItem(place);
  showIntent();
}

function decide() {
  return {
    key: crypto.randomUUID(),
    principal: byId("principal").value,
    offering: byId("offering").value,
    body: JSON.stringify({
      amount_cents: byId("amount").valueAsNumber,
      currency: "EUR",
      offering_id: byId("offering").value,
      payment_method_token: "tok_page",
    }),
    tries: 0,
    open: false, // may one attempt have been carried out, of which nobody has told?
  };
}

// ---- What to do after each attempt: docs/client-guide.md's table.

// Under which the service sends a problem of its own; elsewhere its type is somebody else's.
const problemStatuses = [202, 400, 401, 409, 422, 423, 425, 503];
// What HTTP itself has against the message: the command was not asked.
const unreadStatuses = [400, 405, 406, 411, 413, 414, 415, 416, 417, 421, 426, 431];

const again = (reply) => ({ again: true, retryAfter: reply.retryAfter });
const done = { done: true };
const stop = (why) => ({ why });

function adviceAfter(reply) {
  if (!reply.answered) return again(reply);
  if (reply.replayed) return done; // what is stored is final, whatever its status
  // The type counts more than the status.
  switch (reply.problem === "answer-withheld" || problemStatuses.includes(reply.status) ? reply.problem : "") {
    case "in-progress":
    case "unknown":
    case "unavailable":
      return again(reply);
    case "key-reused":
      return stop("a bug: the key was used for another request");
    case "unauthenticated":
      return stop("not signed in; nothing was done");
    case "answer-withheld":
      return done;
    case "key-missing":
    case "key-refused":
    case "request-refused":
      return stop("refused; nothing was done");
  }
  if (reply.status === 202) return reply.keyTold ? again(reply) : done;
  if (unreadStatuses.includes(reply.status)) return stop("refused; nothing was done");
  if ([401, 403, 407].includes(reply.status)) return stop("not signed in; nothing was done");
  if (reply.status === 422) return stop("a bug: the key was used for another request");
  if ([408, 409, 423, 425, 429].includes(reply.status) || reply.status >= 500) return again(reply);
  return done;
}

function seconds(retryAfter) {
  return /^\d{1,9}$/.test(retryAfter ?? "") ? Number(retryAfter) : null;
}

const lastWord = (type) => String(type).split(/[:#/]/).at(-1);

async function send(intent, fault) {
  try {
    const headers = { ...signedIn(intent.principal), "Content-Type": "application/json", "Idempotency-Key": `"${intent.key}"` };
    if (fault) headers["Demo-Fault"] = fault;
    const answer = await fetch("/payments", {
      method: "POST",
      headers,
      body: intent.body,
      cache: "no-store",
      redirect: "error",
      signal: AbortSignal.timeout(attemptMs),
    });
    // Half of an answer is none.
    const content = await answer.text();
    const isProblem = answer.headers.get("Content-Type")?.startsWith("application/problem+json");
    let told = {};
    try {
      told = JSON.parse(content) ?? {};
    } catch {
      // The status has to do.
    }
    return {
      answered: true,
      status: answer.status,
      replayed: answer.headers.get("Idempotent-Replayed") === "true",
      retryAfter: seconds(answer.headers.get("Retry-After")),
      keyTold: answer.headers.has("Idempotency-Key"),
      problem: isProblem ? lastWord(told.type) : "",
      detail: isProblem ? told.detail : told.state,
    };
  } catch {
    return { answered: false, retryAfter: null };
  }
}

async function attempt(intent, fault) {
  // Two clicks may be at one intent: the number is its own.
  const saved = savedIntent();
  const number = Math.max(intent.tries, saved?.key === intent.key ? saved.tries : 0) + 1;
  intent.tries = number;
  if (saved?.key === intent.key) saveIntent({ ...saved, tries: number });
  const line = addLine(number, intent.key);
  const reply = await send(intent, fault);
  const says = reply.answered ? [reply.problem, reply.detail].filter(Boolean).join(": ") : "no answer: nobody knows";
  const kind = adviceAfter(reply).again ? "" : reply.status < 300 ? "good" : "bad";
  fillLine(line, reply.answered ? reply.status : "–", reply.answered ? (reply.replayed ? "yes" : "no") : "–", says, kind);
  refresh();
  return reply;
}

// One click's loop. Each click has one, also where another is at the same intent: each is given the answer.
async function pursue(intent, fault) {
  let bound = firstPauseMs;
  for (;;) {
    const advice = adviceAfter(await attempt(intent, fault));
    fault = null;
    if (advice.done) return forgetIntent(intent);
    if (advice.why) {
      // Of a stop, only what no attempt can have carried out is forgotten.
      const open = savedIntent()?.open === true;
      addNote(`Stopped: ${advice.why}.` + (open ? " An earlier attempt may have been carried out: its key is kept." : ""));
      if (!open) forgetIntent(intent);
      return;
    }
    const saved = savedIntent();
    if (saved?.key === intent.key) saveIntent({ ...saved, open: true });
    if (advice.retryAfter !== null) {
      await wait(advice.retryAfter * 1000);
    } else {
      await wait(Math.random() * bound);
      bound = Math.min(bound * 2, longestPauseMs);
    }
  }
}

let lastClick = { at: -Infinity, intent: null };

byId("enrollment").addEventListener("submit", (event) => {
  event.preventDefault();
  const now = performance.now();
  const repeated = now - lastClick.at < gestureMs ? lastClick.intent : null;
  let intent = savedIntent() ?? repeated;
  if (!intent) {
    intent = decide();
    saveIntent(intent); // before the first attempt
  }
  lastClick = { at: now, intent };
  pursue(intent, takeFault());
});

// ---- The switches: one at a time, for one attempt.

const switches = [byId("drop-answer"), byId("kill-after-approval")];

for (const one of switches) {
  one.addEventListener("change", () => {
    for (const other of switches) if (other !== one) other.checked = false;
  });
}

function takeFault() {
  const on = switches.find((one) => one.checked);
  if (on) on.checked = false;
  return on?.id ?? null;
}

// ---- The event again.

let newestDelivered = null;

byId("redeliver").addEventListener("click", async () => {
  const payment = newestDelivered;
  const line = addLine("event", payment);
  try {
    const answer = await fetch(`/demo/payments/${encodeURIComponent(payment)}/redeliveries`, {
      method: "POST",
      headers: signedIn(byId("principal").value),
      signal: AbortSignal.timeout(attemptMs),
    });
    const told = await answer.json();
    fillLine(line, answer.status, "–", told.delivery ?? lastWord(told.type), answer.ok ? "good" : "bad");
  } catch {
    fillLine(line, "–", "–", "no answer", "");
  }
  refresh();
});

// ---- What there is, asked for each second and after each answer.

const signedIn = (principal) => ({ Authorization: `Bearer demo-${principal}` });

let timer;
let asked = 0;

async function refresh() {
  clearTimeout(timer);
  const mine = ++asked;
  const principal = byId("principal");
  try {
    if (!principal.validity.valid) {
      show({ records: [], payments: [], seats: [], receipts: [], charges: [] });
    } else {
      const answer = await fetch("/demo/state", {
        headers: signedIn(principal.value),
        cache: "no-store",
        signal: AbortSignal.timeout(5000),
      });
      if (!answer.ok) throw new Error(`status ${answer.status}`);
      const state = await answer.json();
      if (mine !== asked) return; // A later question is under way.
      show(state);
    }
    showServer(true);
  } catch {
    if (mine !== asked) return;
    showServer(false);
  }
  timer = setTimeout(refresh, pollMs);
}

function showServer(up) {
  const told = up ? "The server answers." : "No answer from the server; trying again. The tables show what it said last.";
  const server = byId("server");
  if (server.textContent !== told) server.textContent = told; // or it would be read out each second
  server.parentElement.classList.toggle("down", !up);
}

function showIntent() {
  const intent = savedIntent();
  const told = intent
    ? `Under way: key ${short(intent.key)}, ${intent.principal} in ${intent.offering}. Another click sends it again.`
    : "Nothing is under way: the next click is a new decision, with a key of its own.";
  if (byId("intent").textContent !== told) byId("intent").textContent = told;
}

function show(state) {
  fill("records", state.records, (one) => [
    code(one.key), stateCell(one.state), cell(one.taken_over ? "yes" : "no"), cell(one.fence), code(one.attempt),
    cell(one.state !== "IN_PROGRESS" ? "–" : one.lapsed ? "over" : `${(one.lease_left_ms / 1000).toFixed(1)} s left`),
  ]);
  fill("payments", state.payments, (one) => [
    code(one.payment_id), stateCell(one.state), text(one.offering_id), money(one), code(one.charge_id ?? "–"),
  ]);
  fill("charges", state.charges, (one) => [
    code(one.charge_id), stateCell(one.outcome), money(one), code(one.reference), cell(one.at),
  ], "The acquirer does not answer.");
  fill("seats", state.seats, (one) => [text(one.offering_id), code(one.payment_id)]);
  fill("receipts", state.receipts, (one) => [code(one.payment_id), cell(one.issued_at)]);
  // Only what was delivered once can be delivered again.
  newestDelivered = state.payments.find((one) => state.receipts.some((receipt) => receipt.payment_id === one.payment_id))?.payment_id ?? null;
  byId("redeliver").disabled = newestDelivered === null;
  const offering = byId("offering").value;
  byId("held").textContent = state.seats.some((one) => one.offering_id === offering)
    ? `${byId("principal").value} has a seat in ${offering}: a new decision would be charged again, and the seat stay one.`
    : "";
}

// ---- Cells. Everything is text: nothing that anybody has typed becomes markup.

function cell(content, ...classes) {
  const made = document.createElement("td");
  made.textContent = String(content);
  made.classList.add(...classes);
  return made;
}

// Of the version 7 UUIDs of one minute, the first half is nearly the same.
const short = (id) => (/^[0-9a-f-]{36}$/.test(id) && id[14] === "7" ? `…${id.slice(-8)}` : id.slice(0, 8));

function code(id) {
  const made = cell(id.length > 16 ? short(id) : id, "code");
  made.title = id;
  return made;
}

const text = (content) => cell(content, "text");
const money = (one) => cell(`${(one.amount_cents / 100).toFixed(2)} ${one.currency}`);

function stateCell(state) {
  const good = ["COMPLETED", "AUTHORIZED", "approved"].includes(state);
  const bad = ["FAILED", "DECLINED", "UNKNOWN", "declined"].includes(state);
  return cell(state, ...(good ? ["good"] : bad ? ["bad"] : []));
}

const shown = new Map();

// `rows` is null where they cannot be had.
function fill(id, rows, cells, cannot) {
  const now = JSON.stringify(rows);
  if (shown.get(id) === now) return; // A selection of the person's stays.
  shown.set(id, now);
  byId(`${id.slice(0, -1)}-count`).textContent = rows === null ? "?" : String(rows.length);
  const columns = byId(id).tHead.rows[0].cells.length;
  const made = (rows ?? []).map((one) => row(cells(one)));
  if (made.length === 0) {
    const none = cell(rows === null ? cannot : "none", "none");
    none.colSpan = columns;
    made.push(row([none]));
  }
  byId(id).tBodies[0].replaceChildren(...made);
}

function row(cells) {
  const made = document.createElement("tr");
  made.append(...cells);
  return made;
}

// ---- The log.

function addRow(cells) {
  const made = row(cells);
  byId("log").tBodies[0].append(made);
  byId("attempts").scrollTop = byId("attempts").scrollHeight;
  return made;
}

const addLine = (number, id) => addRow([cell(number), code(id), cell("…"), cell("…"), text("…")]);

function fillLine(line, status, replayed, says, kind) {
  const told = [cell(status, ...(kind ? [kind] : [])), cell(replayed), text(says)];
  told.forEach((made, i) => line.cells[i + 2].replaceWith(made));
  byId("attempts").scrollTop = byId("attempts").scrollHeight;
}

function addNote(what) {
  const made = text(what);
  made.colSpan = 5;
  addRow([made]);
}

// ---- Here it begins: what was under way when the page was left goes on, with its key.

showIntent();
byId("principal").addEventListener("input", refresh);
byId("offering").addEventListener("input", refresh);
const unfinished = savedIntent();
if (unfinished) {
  byId("principal").value = unfinished.principal;
  byId("offering").value = unfinished.offering;
  byId("amount").value = JSON.parse(unfinished.body).amount_cents;
  pursue(unfinished, null);
}
refresh();
