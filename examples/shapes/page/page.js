/**
 * The script of the page. It shows the state that the server sends, and presses buttons.
 *
 * Elements are created once and changed in place, so that the focus stays. Data becomes text, never HTML.
 */
/* global document, navigator, EventSource */
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

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
let state
let isPlaying = false

/** Sends a press; returns why it was refused, or undefined. */
async function post(path) {
  try {
    const response = await fetch(path, { method: 'POST' })
    return response.ok ? undefined : (await response.json()).error
  } catch {
    return 'The program does not answer.'
  }
}

function show(next) {
  state = next
  const { step, steps, isRunning, isDown, commands, said } = state
  setState('running', isRunning ? ['ok', 'running'] : ['failing', 'stopped'])
  setState('service', isDown ? ['failing', 'down'] : ['ok', 'up'])
  showStep(step, steps)
  for (const button of state.buttons) showButton(button)
  showObjects(state)
  showShapes(state)
  fill(byId('commands'), commands.join('\n'), () => commands.map(commandLine))
  fill(byId('said'), JSON.stringify(said), () =>
    said.length === 0 ? [make('li', 'Nothing has happened yet.')] : said.toReversed().map(logLine),
  )
  document.body.dataset.ready = 'yes'
}

function setState(id, [name, text]) {
  byId(id).className = `state ${name}`
  byId(id).textContent = text
}

function showStep({ number, title, does, flaw, because, code }, steps) {
  fill(byId('steps'), String(steps.length), () =>
    steps.map((each) => {
      const button = make('button', undefined, { type: 'button', 'data-step': each.number })
      button.append(`${each.number}`, make('span', ` ${each.title}`, { class: 'name' }))
      button.onclick = () => post(`/step/${each.number}`)
      return button
    }),
  )
  for (const button of byId('steps').children)
    button.setAttribute('aria-pressed', String(Number(button.dataset.step) === number))
  if (byId('title').dataset.number === String(number)) return
  byId('title').dataset.number = number
  byId('title').textContent = `Step ${number}: ${title}`
  byId('does').textContent = does
  byId('flaw').textContent = flaw
  byId('because').textContent = because
  document.body.classList.toggle('is-complete', number === steps.length)
  if (!isPlaying) byId('playing').textContent = ''
  byId('code-about').textContent =
    number === 1 ? 'Code of the step' : 'Code that step ' + (number - 1) + ' does not have'
  byId('file').textContent = code.file
  byId('code').replaceChildren(...codeLines(code.lines))
  byId('code').scrollTo(0, 0)
}

function codeLines(lines) {
  return lines.flatMap(({ number, text, isNew }, index) => {
    const line = make('span', undefined, { class: isNew ? 'new' : '' })
    line.append(make('i', String(number)), text)
    const hasGap = index > 0 && lines[index - 1].number + 1 < number
    return hasGap ? [make('span', '     ⋯', { class: 'muted' }), line] : [line]
  })
}

function showButton({ name, group, label, whyNot }) {
  let button = document.querySelector(`[data-do="${name}"]`)
  if (!button) {
    button = make('button', undefined, { type: 'button', 'data-do': name })
    button.onclick = () => press(button)
    byId(group).append(button)
  }
  if (button.textContent !== label) button.textContent = label
  button.setAttribute('aria-disabled', String(whyNot !== undefined))
  if (whyNot === undefined) button.removeAttribute('title')
  else button.title = whyNot
  // A reason goes when it no longer holds.
  const hint = hintOf(button)
  if (hint?.dataset.do === name && hint.textContent !== whyNot) hint.textContent = ''
}

const hintOf = (button) => button.closest('.panel')?.querySelector('.hint')

/** A disabled button says why, for those who cannot hover. */
async function press(button) {
  const isDisabled = button.getAttribute('aria-disabled') === 'true'
  const reason = isDisabled ? button.title : await post(`/do/${button.dataset.do}`)
  for (const hint of document.querySelectorAll('.hint')) hint.textContent = ''
  const hint = hintOf(button)
  if (!hint) return
  hint.textContent = reason ?? ''
  hint.dataset.do = isDisabled ? button.dataset.do : ''
}

function showObjects({ objects, refs }) {
  const blocks = objects.map(({ name, type, color, finalizers, isDeleting, id, conditions }) =>
    [
      `kind: Shape`,
      `name: ${name}`,
      `type: ${type}`,
      `color: ${color}`,
      ...(finalizers.length > 0 ? [`finalizers: ${finalizers.join(', ')}`] : []),
      ...(isDeleting ? [`being deleted${finalizers.length > 0 ? ', waits for its finalizer' : ''}`] : []),
      ...(id === undefined ? [] : [`id: ${id}`]),
      ...conditions.map(conditionLine),
    ].join('\n'),
  )
  for (const { name } of refs) blocks.push(`kind: ExternalRef\nname: ${name}`)
  fill(byId('objects'), blocks.join('\n\n'), () =>
    blocks.length > 0 ? blocks.map((text) => make('pre', text)) : [make('p', 'No objects.', { class: 'empty' })],
  )
}

function conditionLine({ type, status, reason, message }) {
  if (status === 'True') return `${type}: True`
  return `${type}: ${status} (${reason ?? ''}${message ? `: ${message}` : ''})`
}

const outlines = {
  circle: ['circle', { cx: 44, cy: 44, r: 40 }],
  square: ['rect', { x: 6, y: 6, width: 76, height: 76, rx: 4 }],
  triangle: ['polygon', { points: '44,4 86,82 2,82' }],
}

function showShapes({ shapes, objects }) {
  fill(byId('picture'), JSON.stringify([shapes, objects.map(({ name }) => name)]), () =>
    shapes.length === 0
      ? [make('p', 'The service draws nothing.', { class: 'empty' })]
      : shapes.map((shape) => figureOf(shape, objects)),
  )
}

function figureOf({ id, name, type, color, labels }, objects) {
  const figure = make('figure', undefined, { 'data-shape': name, 'data-color': color })
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg')
  svg.setAttribute('viewBox', '0 0 88 88')
  svg.setAttribute('aria-hidden', 'true')
  const [outline, attributes] = outlines[type] ?? outlines.circle
  const drawn = document.createElementNS('http://www.w3.org/2000/svg', outline)
  for (const [key, value] of Object.entries({ ...attributes, fill: color })) drawn.setAttribute(key, value)
  svg.append(drawn)
  const caption = make('figcaption', `${name} (${id})`)
  caption.append(make('span', `${color} ${type}`))
  if (!objects.some((object) => object.name === name)) caption.append(make('span', 'no object'))
  for (const [key, value] of Object.entries(labels).slice(0, 4))
    caption.append(make('span', `${key}: ${value.length > 11 ? `${value.slice(0, 10)}…` : value}`))
  figure.append(svg, caption)
  return figure
}

function commandLine(text) {
  const line = make('div', undefined, { class: 'row command' })
  const button = make('button', 'Copy', { type: 'button', 'aria-label': `Copy: ${text}` })
  button.onclick = async () => {
    await navigator.clipboard.writeText(text)
    button.textContent = 'Copied'
    await pause(1500)
    button.textContent = 'Copy'
  }
  line.append(make('code', text), button)
  return line
}

function logLine({ time, text, by, times }) {
  const line = make('li', undefined, { class: by })
  const who = by === 'controller' ? 'Controller: ' : ''
  line.append(
    make('time', new Date(time).toLocaleTimeString('en-GB')),
    `${who}${text}${times > 1 ? ` (${times} times)` : ''}`,
  )
  return line
}

/** Presses the buttons that show the flaw of the step, one after the other, and waits for what each of them causes. */
async function play() {
  if (isPlaying) return
  isPlaying = true
  byId('show').setAttribute('aria-disabled', 'true')
  byId('show').title = 'It is playing.'
  const problem = await playAll(state.step).catch((error) => error.message)
  if (problem !== undefined) byId('playing').textContent = `Stopped: ${problem}`
  isPlaying = false
  byId('show').removeAttribute('aria-disabled')
  byId('show').removeAttribute('title')
}

async function playAll({ number, show: presses }) {
  byId('playing').textContent = 'Starting over …'
  const refused = state.buttons.some(({ name, whyNot }) => name === 'start-over' && whyNot === undefined)
    ? await post('/do/start-over')
    : undefined
  if (refused !== undefined) return refused
  for (const [index, { press: name, until, seen }] of presses.entries()) {
    const button = document.querySelector(`[data-do="${name}"]`)
    const label = state.buttons.find((each) => each.name === name)?.label
    byId('playing').textContent = `${index + 1} of ${presses.length}: presses "${label}"`
    button.classList.add('pressed')
    await pause(pace())
    const reason = await post(`/do/${name}`)
    if (reason !== undefined) button.classList.remove('pressed')
    if (reason !== undefined) return reason
    const isSeen = await seenSoon(until, number)
    button.classList.remove('pressed')
    if (!isSeen) return `"${label}" did not have the expected effect.`
    byId('playing').textContent = seen
    await pause(pace())
  }
  return undefined
}

/** Time to look between two presses, in milliseconds. */
const pace = () => Number(document.body.dataset.pace ?? 1200)

/** Whether the state becomes what a press should cause, in 20 seconds and in the same step. */
async function seenSoon(until, number) {
  for (let tries = 0; tries < 100; tries++) {
    await refresh()
    if (state.step.number !== number) return false
    if (holds(until)) return true
    await pause(200)
  }
  return false
}

function holds({ shapes = {}, object, isSettled }) {
  const foo = state.objects.find(({ name }) => name === 'foo')
  const count = (name) => state.shapes.filter((shape) => shape.name === name).length
  return (
    Object.entries(shapes).every(([name, wanted]) => count(name) === wanted) &&
    (object === undefined || object === (foo !== undefined)) &&
    (!isSettled || (foo !== undefined && foo.id !== undefined))
  )
}

async function refresh() {
  try {
    const response = await fetch('/state')
    if (!response.ok) throw new Error((await response.json()).error)
    show(await response.json())
    setState('live', ['ok', 'live'])
  } catch {
    setState('live', ['failing', 'no connection: is the program running?'])
  }
}

byId('show').onclick = play
new EventSource('/events').onmessage = ({ data }) => show(JSON.parse(data))
// Events report the service and the log; the status of an object changes without one.
setInterval(() => document.hidden || refresh(), 1000)
await refresh()
