/**
 * The timeline of a schedule as HTML: a row per event, a column per actor, and a table of the versions of every object.
 */
import { basename } from 'node:path'
import type { ObjectChange, Timeline, TimelineRow } from './timeline.ts'

export function renderTimeline({ columns: all, rows, leftOut }: Timeline): Markup {
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
export function renderObjects({ rows }: Timeline): Markup | undefined {
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
export function shortOrigin(origin: string): string {
  const at = origin.lastIndexOf(':')
  return `${basename(origin.slice(0, at))}${origin.slice(at)}`
}

export class Markup {
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
