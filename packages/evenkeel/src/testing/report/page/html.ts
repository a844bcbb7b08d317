/**
 * An exploration as one page that needs nothing else: what was found, how to see it again, and what was tried.
 *
 * Nothing in it runs and nothing is loaded; everything that comes from objects, errors and code is escaped.
 */
import type { Failure } from '../../explore/collected.ts'
import type { CoverageShare } from '../../explore/coverage/coverage.ts'
import type { Explored } from '../../explore/explore.ts'
import { describeDone, describeLimits, describeSpeed, tierNames, titleOfRule } from '../summary.ts'
import type { ReportOptions } from '../text.ts'
import { html, Markup } from './markup.ts'
import { style } from './style.ts'
import { shortOrigin, renderObjects, renderTimeline } from './timeline-view.ts'

/** The page; to be written into a file. */
export function formatHtml(explored: Explored, { replays = [] }: ReportOptions = {}): string {
  const { scenario, failures } = explored
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'" />
        <title>${failures.length === 0 ? 'Nothing found' : `${failures.length} found`} in ${scenario}</title>
        <style>
          ${new Markup(style)}
        </style>
      </head>
      <body>
        <main>
          ${renderVerdict(explored)} ${renderCards(explored)}
          ${failures.length === 0 ? undefined : html`<h2>Findings</h2>`}
          ${failures.map((failure, index) => renderFailure(failure, { schedules: explored.schedules, isOpen: index === 0, replay: replays[index] }))}
          ${renderCoverage(explored)}
          <p class="faint">${describeLimits(explored)}</p>
          <p class="faint">
            Scenario ${scenario}, profile ${explored.profile}, seed ${explored.seed}, trace of the undisturbed schedule
            <span class="mono">${explored.hash}</span>.
          </p>
        </main>
      </body>
    </html> `.text
}

function renderVerdict(explored: Explored): Markup {
  const { failures, scenario } = explored
  const verdict =
    failures.length === 0
      ? html`<span class="good">Nothing found</span> in ${scenario}`
      : html`<span class="bad">${failures.length} ${failures.length === 1 ? 'thing' : 'things'} found</span> in
          ${scenario}`
  const done = describeDone(explored)
  return html`<h1>${verdict}</h1>
    <p class="faint">${done.slice(0, 1).toUpperCase()}${done.slice(1)}. ${describeSpeed(explored)}.</p>`
}

function renderCards({ schedules, failures, coverage: { writes, calls, rules, deeds } }: Explored): Markup {
  const errors = failures.filter(({ severity }) => severity === 'error').length
  const card = (name: string, value: string): Markup =>
    html`<div class="card"><b>${value}</b><span class="faint">${name}</span></div>`
  return html`<div class="cards">
    ${[
      card('schedules', String(schedules)),
      card('errors', String(errors)),
      card('warnings and notes', String(failures.length - errors)),
      card('writes faulted', `${writes.faulted} / ${writes.seen}`),
      card('calls outside faulted', `${calls.faulted} / ${calls.seen}`),
      card('kinds of faults', String(Object.keys(deeds).length)),
      card(
        'rules with something to judge',
        `${rules.exercised.length} / ${rules.exercised.length + rules.idle.length}`,
      ),
    ]}
  </div>`
}

interface FailureOptions {
  readonly schedules: number
  readonly isOpen: boolean
  readonly replay: string | undefined
}

function renderFailure(failure: Failure, { schedules, isOpen, replay }: FailureOptions): Markup {
  const { rule, severity, message, when, hint, diff = [], story = [], timeline, seen } = failure
  const objects = timeline && renderObjects(timeline)
  return html`<details class="failure" ${new Markup(isOpen ? ' open' : '')}>
    <summary><span class="tag ${severity}">${titleOfRule(rule).replace(/^RULE /, '')}</span><b>${message}</b></summary>
    <div>
      <p class="faint">
        ${when.length === 0 ? 'Undisturbed' : when.join(' and ')}. Seen in ${seen} of ${schedules} schedules.
      </p>
      ${
        story.length === 0
          ? undefined
          : html`<h3>What happens</h3>
              <ol class="story">
                ${story.map(({ text, origin, isTurn }) => html`<li class="${isTurn ? 'turn' : ''}">${origin === undefined ? undefined : html`<code class="at" title="${origin}">${shortOrigin(origin)}</code>`}${text.replace(/^-- /, '')}</li>`)}
              </ol>`
      }
      ${
        diff.length === 0
          ? undefined
          : html`<h3>Difference</h3>
              <pre>${diff.join('\n')}</pre>`
      }
      ${hint === undefined ? undefined : html`<p class="hint">${hint}</p>`}
      ${
        replay === undefined
          ? undefined
          : html`<h3>See it again</h3>
              <pre>${replay}</pre>`
      }
      ${
        timeline === undefined
          ? undefined
          : html`<details class="more" ${new Markup(isOpen ? ' open' : '')}>
              <summary>Timeline: ${timeline.rows.length} rows</summary>
              ${renderTimeline(timeline)}
            </details>`
      }
      ${
        objects === undefined
          ? undefined
          : html`<details class="more">
              <summary>Objects and their versions</summary>
              ${objects}
            </details>`
      }
    </div>
  </details>`
}

function renderCoverage({
  coverage: { writes, calls, looks, rests, deeds, rules, controllers },
  tiers,
}: Explored): Markup {
  const share = (name: string, { seen, faulted }: CoverageShare): Markup =>
    html`<tr>
      <td>${name}</td>
      <td>${faulted} of ${seen}</td>
      <td>
        ${seen === 0 ? undefined : html`<span class="bar"><i style="width:${Math.round((faulted / seen) * 100)}%"></i></span>`}
      </td>
    </tr>`
  return html`<h2>What was tried</h2>
    <table>
      <thead>
        <tr>
          <th>tier</th>
          <th>done</th>
          <th>left out because they are the same as others</th>
        </tr>
      </thead>
      <tbody>
        ${tiers.map(
          ({ tier, done, planned, pruned }) =>
            html`<tr>
              <td>${tier}: ${tierNames[tier]}</td>
              <td class="${done < planned ? 'bad' : ''}">${done} of ${planned}</td>
              <td>${pruned}</td>
            </tr>`,
        )}
      </tbody>
    </table>
    <h3>Where something went wrong</h3>
    <table>
      <tbody>
        ${[share('writes to the server', writes), share('calls outside', calls), share('looks', looks), share('rests', rests)]}
      </tbody>
    </table>
    <h3>Kinds of faults, by schedules</h3>
    <p>${Object.entries(deeds).map(([deed, count]) => html`<code>${deed} ${count}</code> `)}</p>
    <h3>Rules</h3>
    <p>${rules.exercised.map((rule) => html`<code>${rule}</code> `)}</p>
    ${rules.idle.length === 0 ? undefined : html`<p class="faint">Nothing to judge for ${rules.idle.join(', ')}.</p>`}
    <h3>Controllers, undisturbed</h3>
    <p>
      ${controllers.map(({ name, runs, objects }) => html`<code>${name}</code> ${runs} reconciles of ${objects} ${objects === 1 ? 'object' : 'objects'} `)}
    </p>`
}
