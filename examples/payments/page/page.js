// A client by docs/client-guide.md, with everything to be seen.

const place = "payments.intent";
// A second click within this time is the same decision, also where the first one's answer has come already.
const gestureMs = 1000;
const firstPauseMs = 500;
const longestPauseMs = 4000;
const longestRetryAfterS = 3600; // a server that asks for more is not waited for
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

// In the browser's storage, as another click or another page may be at it; one that is forgotten stays so.
function changeIntent(intent, change) {
  const saved = savedIntent();
  if (saved?.key === intent.key) saveIntent({ ...saved, ...change(saved) });
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
    open: 0, // attempts that may have been carried out, of which nobody has told
  };
}

// ---- What to do after each attempt: docs/client-guide.md's table.

// Under which the service sends a problem of its own; elsewhere its type is somebody else's.
const problemStatuses = [202, 400, 401, 409, 422, 423, 425, 503];
// What HTTP itself has against the message: the command was not asked.
const unreadStatuses = [400, 405, 406, 411, 413, 414, 415, 416, 417, 421, 426, 431];

const done = { done: true };
const stop = (why) => ({ why }); // this try did nothing
const stopAndKeep = (why) => ({ why, keep: true }); // who knows what it did?

const mismatch = stop("a bug: the key was used for another request; this try did nothing");
const refused = stop("refused; this try did nothing");
const forbidden = stop("not signed in; this try did nothing");

function again(reply) {
  if (reply.retryAfter > longestRetryAfterS) return stopAndKeep("the service asks for more than an hour");
  return { again: true, retryAfter: reply.retryAfter };
}

function adviceAfter(reply) {
  if (!reply.answered) return again(reply);
  if (reply.replayed) return done; // what is stored is final, whatever its status
  // The type counts more than the status.
  const counts = reply.problem === "answer-withheld" || problemStatuses.includes(reply.status);
  switch (counts ? reply.problem : "") {
    case "in-progress":
    case "unknown":
    case "unavailable":
      return again(reply);
    case "key-reused":
      return mismatch;
    case "unauthenticated":
      return forbidden;
    case "answer-withheld":
      return done;
    case "key-missing":
    case "key-refused":
    case "request-refused":
      return refused;
  }
  if (reply.status === 202) return reply.keyTold ? again(reply) : done;
  if (unreadStatuses.includes(reply.status)) return refused;
  if ([401, 403, 407].includes(reply.status)) return forbidden;
  if (reply.status === 422) return mismatch;
  if ([408, 409, 423, 425, 429].includes(reply.status) || reply.status >= 500) return again(reply);
  // A redirect that is not followed has the status 0.
  if (reply.status < 200 || (reply.status >= 300 && reply.status < 400)) {
    return stopAndKeep("no such service answers like that");
  }
  return done;
}

const isKnownAnswer = (reply) => reply.replayed || reply.problem === "answer-withheld";

function seconds(retryAfter) {
  return /^\d+$/.test(retryAfter ?? "") ? Number(retryAfter) : null;
}

const lastWord = (type) => String(type).split(/[:#/]/).at(-1);

async function send(intent, fault) {
  try {
    const headers = {
      ...signedIn(intent.principal),
      "Content-Type": "application/json",
      "Idempotency-Key": `"${intent.key}"`,
    };
    if (fault) headers["Demo-Fault"] = fault;
    const answer = await fetch("/payments", {
      method: "POST",
      headers,
      body: intent.body,
      cache: "no-store",
      redirect: "manual",
      signal: AbortSignal.timeout(attemptMs),
    });
    // Half of an answer is none.
    const content = await answer.text();
    const type = answer.headers.get("Content-Type") ?? "";
    const isProblem = type.split(";")[0].trim().toLowerCase() === "application/problem+json";
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
  const earlier = saved?.key === intent.key ? saved.open : 0;
  intent.tries = number;
  // Before it is sent: who leaves the page now never hears of it.
  changeIntent(intent, ({ open }) => ({ tries: number, open: open + 1 }));
  const line = addLine(number, intent.key);
  const reply = await send(intent, fault);
  let advice = adviceAfter(reply);
  // It may be a router's, which asked nobody: the service's own decision comes back as a replay.
  if (advice.done && earlier > 0 && reply.status >= 400 && reply.status !== 402 && !isKnownAnswer(reply)) {
    advice = intent.doubted ? stopAndKeep("this may not be the service's answer") : again(reply);
    intent.doubted = true;
  }
  if (advice.why && !advice.keep) changeIntent(intent, ({ open }) => ({ open: open - 1 }));
  if (reply.answered) {
    const says = [reply.problem, reply.detail].filter(Boolean).join(": ");
    const kind = advice.again ? "" : advice.done && reply.status < 300 ? "good" : "bad";
    fillLine(line, reply.status || "3xx", reply.replayed ? "yes" : "no", says, kind);
  } else {
    fillLine(line, "–", "–", "no answer: nobody knows", "");
  }
  refresh();
  return advice;
}

const keptToo = " The payment may have been made: the key is kept, and another click sends it again.";

// One click's loop. Each click has one, also where another is at the same intent: each is given the answer.
async function pursue(intent, fault) {
  let bound = firstPauseMs;
  for (;;) {
    const advice = await attempt(intent, fault);
    fault = null;
    if (advice.done) return forgetIntent(intent);
    if (advice.why) {
      // Of a stop, only what no attempt can have carried out is forgotten.
      const saved = savedIntent();
      const kept = saved?.key === intent.key && saved.open > 0;
      addNote(`Stopped: ${advice.why}.${kept ? keptToo : ""}`);
      if (!kept) forgetIntent(intent);
      return;
    }
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
  let intent = savedIntent();
  if (!intent) {
    intent = repeated ?? decide();
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

const serverIsDown = "No answer from the server; trying again. The tables show what it said last.";

function showServer(up) {
  const told = up ? "The server answers." : serverIsDown;
  const server = byId("server");
  if (server.textContent !== told) server.textContent = told; // or it would be read out each second
  server.parentElement.classList.toggle("down", !up);
}

function showIntent() {
  const intent = savedIntent();
  const of = intent && `key ${short(intent.key)}, ${intent.principal} in ${intent.offering}`;
  const told = intent
    ? `Not decided: ${of}. Another click sends it again.`
    : "Nothing is under way: the next click is a new decision, with a key of its own.";
  if (byId("intent").textContent !== told) byId("intent").textContent = told;
}

function leaseOf(record) {
  if (record.state !== "IN_PROGRESS") return "–";
  return record.lapsed ? "over" : `${(record.lease_left_ms / 1000).toFixed(1)} s left`;
}

function show(state) {
  fill("records", state.records, (one) => [
    code(one.key), stateCell(one.state), cell(one.taken_over ? "yes" : "no"), cell(one.fence),
    code(one.attempt), cell(leaseOf(one)),
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
  const delivered = new Set(state.receipts.map((one) => one.payment_id));
  newestDelivered = state.payments.find((one) => delivered.has(one.payment_id))?.payment_id ?? null;
  byId("redeliver").disabled = newestDelivered === null;
  const offering = byId("offering").value;
  const seat = `${byId("principal").value} has a seat in ${offering}`;
  byId("held").textContent = state.seats.some((one) => one.offering_id === offering)
    ? `${seat}: a new decision would be charged again, and the seat stay one.`
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
