import { describe, expect, test } from 'vitest'
import { controllers, leaking, scenario } from '../boxes.fixture.ts'
import { explore, type Explored } from '../explore.ts'
import { formatHtml, html } from './html.ts'
import { formatReport } from './text.ts'

const made: { leaking?: Explored } = {}

/** Made once for all tests here. */
async function explored(): Promise<Explored> {
  made.leaking ??= await explore({ controllers: leaking, scenario, schedulesMax: 12, stories: 1 })
  return made.leaking
}

describe('html', () => {
  test('escapes every inserted text, but not its own markup', () => {
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

  test('has each failure with its story, hint, replay command and timeline, and the coverage', async () => {
    const {
      failures: [failure],
    } = await explored()
    const page = formatHtml(await explored(), { replays: ['npx evenkeel replay a.json'] })
    expect(page).toContain(failure?.message)
    for (const { text } of failure?.story ?? []) expect(page).toContain(html`${text.replace(/^-- /, '')}`.text)
    expect(page).toContain('npx evenkeel replay a.json')
    expect(page).toMatch(/<th>process A<\/th>.*<th>external<\/th>/s)
    expect(page).toContain('the rule is broken here')
    expect(page).toContain('Box default/a created')
    expect(page).toMatch(/12 of \d+<\/td>/)
  })

  test('texts of objects and errors are text on the page', async () => {
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
          story: [{ text: evil, origin: `${evil}:1`, isFault: true }],
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
    expect(report).toMatch(/Explored 12 of \d+ single deviations: the limit of schedules was reached\./)
    expect(report).toContain('replay: npx evenkeel replay a.json')
    expect(report).toMatch(
      /faults injected at: writes \d of \d, external calls \d of \d, reads 0 of 0, quiet states 0 of 3/,
    )
  })

  test('says that no failure is no proof, and which faults were injected', async () => {
    const report = formatReport(await explore({ controllers, scenario, tier: 0 }))
    expect(report).toMatch(/^No failure in 2 schedules of boxes/)
    expect(report).toContain('Explored only the undisturbed schedule.')
    expect(report).toContain(
      'This is not a proof: the Explorer controls only the client, the clock and the external services. It injected no fault',
    )
  })
})
