/**
 * Two comforts; every page reads the same without them.
 * 1. A page marked live is fetched again and the sections that changed are swapped, so there is one renderer: the server's.
 * 2. Copy buttons, which are hidden until this runs.
 */
const EVERY_MS = 3000;

async function textOf({ copy, copyFrom }) {
  if (copyFrom === undefined) return document.getElementById(copy).textContent;
  const reply = await fetch(copyFrom, { cache: 'no-store' });
  if (!reply.ok) throw new Error(`${copyFrom} answered ${reply.status}`);
  return reply.text();
}

function wireCopyButtons() {
  for (const button of document.querySelectorAll('button[data-copy], button[data-copy-from]')) {
    button.hidden = navigator.clipboard === undefined;
    button.addEventListener('click', () => {
      textOf(button.dataset)
        .then((text) => navigator.clipboard.writeText(text))
        .then(
          () => (button.textContent = 'Copied'),
          () => (button.textContent = button.dataset.copyFrom === undefined ? 'Not allowed: select the text' : 'Not copied: follow the link'),
        );
    });
  }
}

/** What the server last sent for each section, since the section in the page changes as its details are opened. */
const sent = new Map();
function remember(root) {
  for (const section of root.querySelectorAll('main > section[id]')) sent.set(section.id, section.outerHTML);
}

/** Somebody has the keyboard's focus in it, or is marking text there: swapping it now would take that away. */
function inUse(section) {
  const selection = document.getSelection();
  return section.contains(document.activeElement) || (selection !== null && !selection.isCollapsed && section.contains(selection.anchorNode));
}

function swap(fresh) {
  const known = [...document.querySelectorAll('main > section[id]')].map((section) => section.id).join(' ');
  const wanted = [...fresh.querySelectorAll('main > section[id]')].map((section) => section.id).join(' ');
  const changed =
    known === wanted
      ? [...fresh.querySelectorAll('main > section[id]')].filter((section) => sent.get(section.id) !== section.outerHTML)
      : [fresh.querySelector('main')];
  let waiting = false;
  for (const next of changed) {
    const old = next.tagName === 'MAIN' ? document.querySelector('main') : document.getElementById(next.id);
    if (inUse(old)) {
      waiting = true;
      continue;
    }
    const html = next.outerHTML;
    for (const details of old.querySelectorAll('details[id]')) {
      const same = next.querySelector(`#${CSS.escape(details.id)}`);
      if (same !== null) same.open = details.open;
    }
    old.replaceWith(document.adoptNode(next));
    if (next.tagName === 'MAIN') remember(document);
    else sent.set(next.id, html);
  }
  document.title = fresh.title;
  // A section that was left alone is tried again, even when the run is done by now.
  if (!waiting) document.body.dataset.live = fresh.body.dataset.live;
  if (changed.length > 0) wireCopyButtons();
}

async function follow() {
  if (document.body.dataset.live !== 'yes') return;
  try {
    if (!document.hidden) {
      const reply = await fetch(location.pathname, { headers: { accept: 'text/html' }, cache: 'no-store' });
      if (reply.ok) swap(new DOMParser().parseFromString(await reply.text(), 'text/html'));
    }
  } catch {
    // The coordinator may be restarting; the page keeps what it has and asks again.
  }
  setTimeout(follow, EVERY_MS);
}

remember(document);
wireCopyButtons();
setTimeout(follow, EVERY_MS);
