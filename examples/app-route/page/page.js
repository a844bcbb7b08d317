/**
 * The script of the page: shows Routes and Apps, and asks for them every second. Data becomes text, never HTML.
 */
/* global document, navigator, location */
const byId = (id) => document.getElementById(id)

function make(name, text, attributes = {}) {
  const element = document.createElement(name)
  if (text !== undefined) element.textContent = text
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value)
  return element
}

/** Replaces the content only when it differs: a selection, the focus and the scroll position stay. */
function fill(element, key, parts) {
  if (element.dataset.key === key) return
  element.dataset.key = key
  element.replaceChildren(...parts())
}

function show({ routes, apps }) {
  byId('sentence').textContent = sentenceOf(routes, apps)
  fill(byId('routes'), JSON.stringify(routes), () => rowsOf(routes, routeCells, 'No Routes yet.'))
  fill(byId('apps'), JSON.stringify(apps), () => rowsOf(apps, appCells, 'No Apps yet.'))
  const commands = commandsFor(routes, apps)
  fill(byId('commands'), JSON.stringify(commands), () => commands.map(commandLine))
  document.body.dataset.ready = 'yes'
}

function sentenceOf(routes, apps) {
  if (routes.length === 0 && apps.length === 0) return 'There are no Routes and no Apps yet.'
  const waiting = routes.find(({ state }) => state.level === 'waiting')
  if (waiting) return `Route ${waiting.name} ${waiting.state.text}.`
  const ready = (items) => items.filter(({ state }) => state.level === 'ok').length
  return `${ready(routes)} of ${count(routes, 'Route')} and ${ready(apps)} of ${count(apps, 'App')} are ready.`
}

const count = ({ length }, name) => `${length} ${name}${length === 1 ? '' : 's'}`

function rowsOf(items, cells, empty) {
  if (items.length === 0) {
    const row = make('tr')
    row.append(make('td', empty, { colspan: 4, class: 'muted' }))
    return [row]
  }
  return items.map((item) => {
    const row = make('tr', undefined, { 'data-object': item.name })
    const name = item.namespace === 'default' ? item.name : `${item.namespace}/${item.name}`
    row.append(make('td', name), stateCell(item.state), ...cells(item))
    return row
  })
}

function stateCell({ level, text }) {
  const cell = make('td')
  cell.append(make('span', text, { class: `state ${level}` }))
  return cell
}

/** A cell with its name, which a narrow screen shows instead of the head of the table. */
function cellOf(name, ...parts) {
  const cell = make('td', undefined, { 'data-name': name })
  cell.append(...parts)
  return cell
}

function routeCells({ hostnames, targets }) {
  const names = hostnames.flatMap((hostname, index) => [index === 0 ? '' : ', ', linkTo(hostname)])
  return [cellOf('Hostnames', ...names), cellOf('Targets', targets.join(', '))]
}

/** Browsers resolve names below localhost to this machine; other names need an entry in the hosts file. */
function linkTo(hostname) {
  if (!/^[a-z0-9-]+(?:\.[a-z0-9-]+)*\.localhost$/.test(hostname)) return hostname
  return make('a', hostname, { href: `http://${hostname}:${location.port}/`, target: '_blank', rel: 'noreferrer' })
}

function appCells({ pid, port, usedBy }) {
  return [
    cellOf('Process', pid === undefined ? 'none' : `${pid} on port ${port}`),
    cellOf('Used by', usedBy.length === 0 ? 'no Route' : usedBy.join(', ')),
  ]
}

/** Commands for what is on the screen. Names of objects are safe in a shell; a hostname may not be. */
function commandsFor(routes, apps) {
  const here = routes.filter(({ namespace }) => namespace === 'default')
  const route = here.find(({ state }) => state.level === 'ok') ?? here[0]
  const app = apps.find(({ name, namespace }) => namespace === 'default' && route?.targets[0] === name)
  const create = ['npx evenkeel apply -f examples/app-route/shop.yaml', 'Creates the Route shop and the App web.']
  if (!app || !route) return [create]
  const [hostname = ''] = route.hostnames.filter((name) => /^[a-z0-9.-]+$/.test(name))
  return [
    ...(hostname === '' ? [] : [[`curl -H 'Host: ${hostname}' ${location.origin}`, `Asks the Route ${route.name}.`]]),
    app.isRunning
      ? [`npx evenkeel do app/${app.name} stop --yes`, 'Ends the process. The Route waits, and answers 503.']
      : [`npx evenkeel do app/${app.name} start`, 'Starts the process. The Route is ready again.'],
    [`npx evenkeel do app/${app.name} refresh`, 'Replaces the process once.'],
    [`npx evenkeel why route/${route.name}`, 'Says why it is ready or not.'],
    [`npx evenkeel delete route/${route.name} app/${app.name}`, 'Ends the process, then deletes both.'],
  ]
}

function commandLine([text, about]) {
  const block = make('div')
  const line = make('div', undefined, { class: 'row command' })
  const button = make('button', 'Copy', { type: 'button', 'aria-label': `Copy: ${text}` })
  button.onclick = async () => {
    await navigator.clipboard.writeText(text)
    button.textContent = 'Copied'
    setTimeout(() => {
      button.textContent = 'Copy'
    }, 1500)
  }
  line.append(make('code', text), button)
  block.append(make('div', about, { class: 'muted small' }), line)
  return block
}

function setLive(level, text) {
  byId('live').className = `state ${level}`
  byId('live').textContent = text
}

async function refresh() {
  try {
    show(await (await fetch('/state')).json())
    setLive('ok', 'live')
  } catch {
    setLive('failing', 'no connection: is the program running?')
  }
}

setInterval(() => document.hidden || refresh(), 1000)
await refresh()
