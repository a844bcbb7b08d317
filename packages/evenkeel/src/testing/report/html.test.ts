import { describe, expect, test } from 'vitest'
import { controllers, leaking, scenario } from '../boxes.fixture.ts'
import { explore, type Explored } from '../explore.ts'
import { html } from './html-timeline.ts'
import { formatHtml } from './html.ts'
import { formatReport } from './text.ts'

const made: { leaking?: Explored } = {}

/** Made once for all tests here. */
async function explored(): Promise<Explored> {
  made.leaking ??= await explore({ controllers: leaking, scenario, schedulesMax: 12, stories: 1 })
  return made.leaking
}

describe('html', () => {
  test('escapes everything that is put in, but for what it made itself', () => {
    const evil = '<script>alert("&\'")</script>\u0007\u202e'
    expect(html`<p title="${evil}">${evil}${html`<b>${1}</b>`}${[html`<i>`, undefined]}</p>`.text).toBe(
      '<p title="&lt;script&gt;alert(&quot;&amp;&#39;&quot;)&lt;/script&gt;\ufffd\ufffd">&lt;script&gt;alert(&quot;&amp;&#39;&quot;)&lt;/script&gt;\ufffd\ufffd<b>1</b><i></p>',
    )
  })
})

describe('formatHtml', () => {
  test('is one page that loads and runs nothing', async () => {
    const page = formatHtml(await explored())
    expect(page).toMatch(/^<!doctype html>/)
    expect(page).toContain("default-src 'none'")
    expect(page).not.toMatch(/<script|<link|<img|https?:\/\/|url\(|@import/)
    expect(Buffer.byteLength(page)).toBeLessThan(200_000)
  })

  test('has the verdict, each failure with its story, hint, replay and timeline, and the coverage', async () => {
    const {
      failures: [failure],
    } = await explored()
    const page = formatHtml(await explored(), { replays: ['npx evenkeel replay a.json'] })
    expect(page).toContain(failure?.message)
    for (const { text } of failure?.story ?? []) expect(page).toContain(html`${text.replace(/^-- /, '')}`.text)
    expect(page).toContain('npx evenkeel replay a.json')
    expect(page).toMatch(/<th>program, life A<\/th>.*<th>outside<\/th>/s)
    expect(page).toContain('here the rule is found broken')
    expect(page).toContain('Box default/a made')
    expect(page).toMatch(/12 of \d+<\/td>/)
  })

  test('what an object or an error says is text on the page', async () => {
    const before = await explored()
    const evil = '</style><script>alert(1)</script>'
    const page = formatHtml(
      {
        ...before,
        scenario: evil,
        failures: before.failures.map((failure) => ({
          ...failure,
          message: evil,
          hint: evil,
          diff: [evil],
          when: [evil],
          story: [{ text: evil, origin: `${evil}:1`, isTurn: true }],
        })),
      },
      { replays: [evil] },
    )
    expect(page).not.toContain('<script>')
  })
})

describe('formatReport', () => {
  test('says what was not explored when it ended early', async () => {
    const report = formatReport(await explored(), { replays: ['npx evenkeel replay a.json'] })
    expect(report).toMatch(/Explored 12 of \d+ single deviations: the number of schedules was reached\./)
    expect(report).toContain('replay: npx evenkeel replay a.json')
    expect(report).toMatch(/faulted: writes \d of \d, calls outside \d of \d, looks 0 of 0, rests 0 of 3/)
  })

  test('says that silence is no proof, and how deep it went', async () => {
    const report = formatReport(await explore({ controllers, scenario, tier: 0 }))
    expect(report).toMatch(/^Nothing found in 2 schedules of boxes/)
    expect(report).toContain('Explored the undisturbed schedule alone.')
    expect(report).toContain(
      'This is not a proof: only what goes through the client, the clock and the outside is controlled, and only no fault at all',
    )
  })
})
