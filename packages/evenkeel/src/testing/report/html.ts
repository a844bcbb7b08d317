/**
 * The report as one self-contained HTML page: failures, their stories and timelines, replay commands, and coverage.
 *
 * The page has no script and loads nothing. All text from objects, errors and code is escaped.
 */
import { basename } from 'node:path'
import type { CoverageShare } from '../coverage.ts'
import type { Explored } from '../explore.ts'
import type { Failure } from '../failures.ts'
import { groupByCause, headlineOf } from './causes.ts'
import {
  describeCount,
  describeDone,
  describeLimits,
  describeOther,
  describeSpeed,
  plural,
  tierNames,
  titleOfRule,
  type ReportOptions,
} from './text.ts'
import type { ObjectChange, Timeline, TimelineRow } from './timeline.ts'

/** The HTML document as text. */
export function formatHtml(explored: Explored, { replays = [] }: ReportOptions = {}): string {
  const { scenario, failures } = explored
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${failures.length === 0 ? 'No failure' : plural(failures.length, 'failure')} in ${scenario}</title><style>${new Markup(style)}</style></head>
<body><main>
${renderVerdict(explored)}
${renderCards(explored)}
${failures.length === 0 ? undefined : html`<h2>Failures</h2>`}
${groupByCause(failures).map(({ main, others }, index) => renderFailure(main, { schedules: explored.schedules, isOpen: index === 0, replay: replays[failures.indexOf(main)], others }))}
${renderCoverage(explored)}
<p class="faint">${describeLimits(explored)}</p>
<p class="faint">Scenario ${scenario}, profile ${explored.profile}, seed ${explored.seed}, trace of the undisturbed schedule <span class="mono">${explored.hash}</span>.</p>
</main></body></html>
`.text
}

function renderVerdict(explored: Explored): Markup {
  const { failures, scenario } = explored
  const verdict =
    failures.length === 0
      ? html`<span class="good">No failure</span> in ${scenario}`
      : html`<span class="bad">${describeCount(failures.length, groupByCause(failures).length)}</span> in ${scenario}`
  const done = describeDone(explored)
  return html`<h1>${verdict}</h1><p class="faint">${done.slice(0, 1).toUpperCase()}${done.slice(1)}. ${describeSpeed(explored)}.</p>`
}

function renderCards({ schedules, failures, coverage: { writes, calls, rules, actions } }: Explored): Markup {
  const errors = failures.filter(({ severity }) => severity === 'error').length
  const card = (name: string, value: string): Markup =>
    html`<div class="card"><b>${value}</b><span class="faint">${name}</span></div>`
  return html`<div class="cards">${[
    card('schedules', String(schedules)),
    card('errors', String(errors)),
    card('warnings and infos', String(failures.length - errors)),
    card('writes with a fault', `${writes.faulted} / ${writes.seen}`),
    card('external calls with a fault', `${calls.faulted} / ${calls.seen}`),
    card('types of faults', String(Object.keys(actions).length)),
    card('rules with something to check', `${rules.exercised.length} / ${rules.exercised.length + rules.idle.length}`),
  ]}</div>`
}

interface FailureOptions {
  readonly schedules: number
  readonly isOpen: boolean
  readonly replay: string | undefined
  /** Failures with the same cause. */
  readonly others: readonly Failure[]
}

function renderFailure(failure: Failure, { schedules, isOpen, replay, others }: FailureOptions): Markup {
  const { rule, severity, when, hint, diff = [], story = [], timeline, seen } = failure
  const objects = timeline && renderObjects(timeline)
  return html`<details class="failure"${new Markup(isOpen ? ' open' : '')}><summary><span class="tag ${severity}">${titleOfRule(rule).replace(/^RULE /, '')}</span><b>${headlineOf(failure).text}</b></summary><div>
<p class="faint">${when.length === 0 ? 'Undisturbed' : when.join(' and ')}. Seen in ${seen} of ${schedules} schedules.</p>
${story.length === 0 ? undefined : html`<h3>What happens</h3><ol class="story">${story.map(({ text, origin, isFault }) => html`<li class="${isFault ? 'fault' : ''}">${origin === undefined ? undefined : html`<a class="at" href="vscode://file${origin}" title="${origin}"><code>${shortOrigin(origin)}</code></a>`}${text.replace(/^-- /, '')}</li>`)}</ol>`}
${diff.length === 0 ? undefined : html`<h3>Difference</h3><pre>${diff.join('\n')}</pre>`}
${hint === undefined ? undefined : html`<p class="hint">${hint}</p>`}
${others.length === 0 ? undefined : html`<h3>The same cause also breaks</h3><ul>${others.map((other) => html`<li>${describeOther(other, headlineOf(failure).text)}</li>`)}</ul>`}
${replay === undefined ? undefined : html`<h3>Replay</h3><pre>${replay}</pre>`}
${timeline === undefined ? undefined : html`<details class="more"${new Markup(isOpen ? ' open' : '')}><summary>Timeline: ${timeline.rows.length} rows</summary>${renderTimeline(timeline)}</details>`}
${objects === undefined ? undefined : html`<details class="more"><summary>Objects and their versions</summary>${objects}</details>`}
</div></details>`
}

function renderCoverage({
  coverage: { writes, calls, reads, quietStates, actions, rules, controllers },
  tiers,
}: Explored): Markup {
  const share = (name: string, { seen, faulted }: CoverageShare): Markup =>
    html`<tr><td>${name}</td><td>${faulted} of ${seen}</td><td>${seen === 0 ? undefined : html`<span class="bar"><i style="width:${Math.round((faulted / seen) * 100)}%"></i></span>`}</td></tr>`
  return html`<h2>Coverage</h2>
<table><thead><tr><th>tier</th><th>done</th><th>left out as equivalent to others</th></tr></thead><tbody>${tiers.map(({ tier, done, planned, pruned }) => html`<tr><td>${tier}: ${tierNames[tier]}</td><td class="${done < planned ? 'bad' : ''}">${done} of ${planned}</td><td>${pruned}</td></tr>`)}</tbody></table>
<h3>Where faults were injected</h3>
<table><tbody>${[share('writes to the API server', writes), share('external calls', calls), share('reads', reads), share('quiet states', quietStates)]}</tbody></table>
<h3>Types of faults, by schedules</h3><p>${Object.entries(actions).map(([action, count]) => html`<code>${action} ${count}</code> `)}</p>
<h3>Rules</h3><p>${rules.exercised.map((rule) => html`<code>${rule}</code> `)}</p>${rules.idle.length === 0 ? undefined : html`<p class="faint">Nothing to check for ${rules.idle.join(', ')}.</p>`}
<h3>Controllers, undisturbed</h3><p>${controllers.map(({ name, runs, objects }) => html`<code>${name}</code> ${runs} reconciles of ${objects} ${objects === 1 ? 'object' : 'objects'} `)}</p>`
}

const style = `
:root { color-scheme: light dark; --background: #f7f7f5; --surface: #fff; --ink: #1d2126; --faint: #68707a; --line: #e2e4e6; --bad: #b3261e; --bad-background: #fdecea; --fault: #8a5a00; --fault-background: #fff4dc; --good: #1d6f42; --accent: #2a5db0; --code: #f0f1f3 }
@media (prefers-color-scheme: dark) { :root { --background: #14171a; --surface: #1c2024; --ink: #e4e7ea; --faint: #98a1ab; --line: #30363c; --bad: #ff8a80; --bad-background: #3b1d1b; --fault: #f0c36d; --fault-background: #362a12; --good: #7fd1a0; --accent: #8ab4f8; --code: #262b30 } }
* { box-sizing: border-box }
body { margin: 0; background: var(--background); color: var(--ink); font: 15px/1.5 system-ui, sans-serif }
main { max-width: 76rem; margin: 0 auto; padding: 2rem 1.25rem 4rem }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .35rem }
h2 { font-size: 1.1rem; margin: 2.2rem 0 .7rem }
h3 { font-size: .82rem; letter-spacing: .04em; text-transform: uppercase; color: var(--faint); margin: 1.2rem 0 .4rem }
p { margin: .3rem 0 }
code, pre, .mono { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: .86em }
code { background: var(--code); padding: .1em .35em; border-radius: 4px; white-space: nowrap }
pre { background: var(--code); padding: .7rem .9rem; border-radius: 6px; overflow-x: auto; margin: .3rem 0 }
.faint { color: var(--faint) }
.bad { color: var(--bad) }
.good { color: var(--good) }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: .7rem; margin: 1.2rem 0 }
.card, .failure, table { background: var(--surface); border: 1px solid var(--line); border-radius: 8px }
.card { padding: .7rem .9rem }
.card b { display: block; font-size: 1.35rem; line-height: 1.3; font-variant-numeric: tabular-nums }
.failure { margin: .8rem 0; padding: 0 }
.failure > summary { cursor: pointer; padding: .8rem 1rem; list-style: none; display: flex; gap: .6rem; align-items: baseline }
.failure > summary::-webkit-details-marker { display: none }
.failure > summary::before { content: '▸'; color: var(--faint) }
.failure[open] > summary::before { content: '▾' }
.failure > div { padding: 0 1.1rem 1.1rem }
.tag { display: inline-block; border-radius: 99px; padding: 0 .6em; font-size: .8rem; font-weight: 600; border: 1px solid currentColor; white-space: nowrap }
.error { color: var(--bad) } .warning { color: var(--fault) } .info { color: var(--accent) }
ol.story { margin: .2rem 0; padding-left: 1.6rem }
ol.story li { padding: .1rem .3rem }
ol.story .at { float: right; margin-left: 1rem }
.fault { background: var(--fault-background); border-radius: 4px }
ol.story .fault { color: var(--fault); font-weight: 600 }
.hint { border-left: 3px solid var(--good); padding: .2rem .8rem; margin: .6rem 0 }
.scroll { overflow-x: auto; max-height: 48rem; overflow-y: auto; border-radius: 8px }
table { border-collapse: separate; border-spacing: 0; width: 100%; font-size: .88rem }
th { text-align: left; font-weight: 600; color: var(--faint); position: sticky; top: 0; background: var(--surface); border-bottom: 1px solid var(--line); z-index: 1 }
th, td { padding: .28rem .6rem; vertical-align: top }
td { border-top: 1px solid var(--line) }
tr:first-child td { border-top: 0 }
td.when { white-space: nowrap; color: var(--faint); font-variant-numeric: tabular-nums }
td.column { border-left: 1px solid var(--line); min-width: 8rem; overflow-wrap: anywhere }
tr.fault td { background: var(--fault-background) }
tr.fault td.here { color: var(--fault); font-weight: 600 }
tr.broken td { background: var(--bad-background); border-top: 2px solid var(--bad) }
tr.note td { color: var(--faint); font-style: italic }
.change { display: block; margin-top: .15rem; font-size: .92em }
.version { display: inline-block; background: var(--code); border-radius: 4px; padding: 0 .35em; font-variant-numeric: tabular-nums }
details.more { margin-top: .9rem }
details.more > summary { cursor: pointer; color: var(--accent) }
.bar { display: inline-block; width: 7rem; height: .5rem; border-radius: 99px; background: var(--code); vertical-align: middle; overflow: hidden }
.bar i { display: block; height: 100%; background: var(--good) }
`

// The timeline of a schedule: a row per event, a column per actor, and a table of the versions of every object.

function renderTimeline({ columns: all, rows, leftOut }: Timeline): Markup {
  const columns = all.filter((column) => column !== 'world')
  return html`${leftOut > 0 ? html`<p class="faint">${leftOut} rows are left out.</p>` : undefined}
<div class="scroll"><table><thead><tr><th>step</th><th>time</th>${columns.map((column) => html`<th>${headOf(column)}</th>`)}</tr></thead>
<tbody>${rows.map((row) => renderRow(row, columns))}</tbody></table></div>`
}

function renderRow(row: TimelineRow, columns: readonly string[]): Markup {
  const name = [row.isFault ? 'fault' : '', row.isBroken ? 'broken' : '', row.column === 'world' ? 'note' : '']
    .filter((one) => one !== '')
    .join(' ')
  const cells =
    row.column === 'world'
      ? [
          html`<td class="here" colspan="${columns.length}">${row.text.replace(/^is quiet \(\d+\)$/, 'the world is quiet')}${brokenHere(row)}</td>`,
        ]
      : columns.map((column) => (column === row.column ? renderCell(row) : html`<td class="column"></td>`))
  return html`<tr class="${name}"><td class="when">${row.step}</td><td class="when">${timeOf(row.atMs)}</td>${cells}</tr>\n`
}

function renderCell(row: TimelineRow): Markup {
  return html`<td class="column here">${arrowed(row.text)}${row.origin === undefined ? undefined : html` <span class="faint mono">${shortOrigin(row.origin)}</span>`}${row.changes.map(renderChange)}${brokenHere(row)}</td>`
}

function brokenHere({ isBroken }: TimelineRow): Markup | undefined {
  return isBroken ? html`<span class="change bad"><b>the rule is broken here</b></span>` : undefined
}

function renderChange({ object, what, version, fields }: ObjectChange): Markup {
  return html`<span class="change"><span class="version">${version}</span> ${object} ${what}${fields.map((field) => html`<br><span class="mono faint">${field}</span>`)}</span>`
}

/** Every object that changed, with its versions in order. */
function renderObjects({ rows }: Timeline): Markup | undefined {
  const found = new Map<string, { readonly row: TimelineRow; readonly change: ObjectChange }[]>()
  for (const row of rows) {
    for (const change of row.changes) {
      const those = found.get(change.object)
      if (those) those.push({ row, change })
      else found.set(change.object, [{ row, change }])
    }
  }
  if (found.size === 0) return undefined
  return html`<div class="scroll"><table><thead><tr><th>object</th><th>version</th><th>step</th><th>what</th></tr></thead><tbody>${[...found].flatMap(([object, those]) => those.map(({ row, change }, index) => html`<tr><td>${index === 0 ? object : ''}</td><td><span class="version">${change.version}</span></td><td class="when">${row.step}</td><td>${change.what}${change.fields.map((field) => html`<br><span class="mono faint">${field}</span>`)}</td></tr>`))}</tbody></table></div>`
}

function headOf(column: string): string {
  return /^[AB]\d*$/.test(column) ? `process ${column}` : column
}

/** `→` towards the server or a service, `←` back. */
function arrowed(text: string): string {
  return text
    .replace(/^(?:request|call) /, '→ ')
    .replace(/^(?:answer|reply) /, '← ')
    .replace(/^event /, '⇠ ')
    .replace(/^collect /, '')
}

function timeOf(atMs: number): string {
  return atMs < 60_000
    ? `${(atMs / 1000).toFixed(1)} s`
    : `${Math.floor(atMs / 60_000)} min ${Math.floor((atMs % 60_000) / 1000)} s`
}

/** `reconcile.ts:41` */
function shortOrigin(origin: string): string {
  const at = origin.lastIndexOf(':')
  return `${basename(origin.slice(0, at))}${origin.slice(at)}`
}

class Markup {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

type Part = Markup | string | number | undefined | readonly (Markup | undefined)[]

/** @example html`<b>${name}</b>` */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  return new Markup(strings.reduce((text, piece, index) => `${text}${textOf(parts[index - 1])}${piece}`))
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function textOf(part: Part): string {
  if (part === undefined) return ''
  if (part instanceof Markup) return part.text
  if (typeof part === 'object') return part.map((one) => one?.text ?? '').join('')
  // Control characters have no place on a page.
  return String(part)
    .replace(/[&<>"']/g, (sign) => entities[sign] ?? sign)
    .replace(/[\p{Cc}\p{Bidi_Control}]/gu, (sign) => (sign === '\n' || sign === '\t' ? sign : '\ufffd'))
}
