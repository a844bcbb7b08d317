import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { acceptsHtml, isLocalHost, refuseForeign, renderPage } from './web-page.ts'

const between = (text: string, from: string, to: string): string => text.split(from)[1]?.split(to)[0] ?? ''
const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

describe('renderPage', () => {
  test('F-pages: the policy allows the script and the style of the page, and nothing else', () => {
    const { html, headers } = renderPage({
      title: 'A & <b>',
      body: '<p>x</p>',
      script: 'document.title = 1',
      style: 'p { color: red; }',
    })
    const policy = headers['content-security-policy'] ?? ''
    expect(policy).toContain(`style-src ${hashOf(between(html, '<style>', '</style>'))};`)
    expect(policy).toContain(`script-src ${hashOf('document.title = 1')};`)
    expect(policy).not.toContain('unsafe')
    expect(policy).toContain("default-src 'none'")
    expect(html).toContain('<title>A &amp; &lt;b></title>')
    expect(html).toContain('<script type="module">document.title = 1</script>')
  })

  test('F-pages: a page without a script may run none and connect nowhere', () => {
    const policy = renderPage({ title: 'x', body: '' }).headers['content-security-policy']
    expect(policy).not.toMatch(/script-src|connect-src/)
  })

  test('refuses a script that would end itself', () => {
    expect(() => renderPage({ title: 'x', body: '', script: '"</SCRIPT>"' })).toThrow(RangeError)
  })

  test('F-pages: text has a contrast of 4.5 : 1 on each background, in both forms', () => {
    const { html } = renderPage({ title: 'x', body: '' })
    const [light = '', dark = ''] = html.split('prefers-color-scheme: dark')
    for (const form of [light, dark]) {
      const color = (name: string): string => new RegExp(`--${name}: (#[0-9a-f]{6})`).exec(form)?.[1] ?? ''
      for (const text of ['text', 'muted', 'accent', 'ok', 'waiting', 'failing'])
        for (const back of ['back', 'surface'])
          expect(contrast(color(text), color(back)), `${text} on ${back}`).toBeGreaterThanOrEqual(4.5)
      for (const text of ['text', 'muted']) expect(contrast(color(text), color('tint'))).toBeGreaterThanOrEqual(4.5)
      expect(contrast(color('on-accent'), color('accent'))).toBeGreaterThanOrEqual(4.5)
      expect(contrast(color('edge'), color('surface'))).toBeGreaterThanOrEqual(3)
    }
  })
})

/** The contrast of WCAG 2. */
function contrast(one: string, other: string): number {
  const [low = 0, high = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b)
  return (high + 0.05) / (low + 0.05)
}

function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(color.slice(at, at + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

describe('refuseForeign', () => {
  const refusal = (headers: Record<string, string>, method = 'GET'): number | undefined =>
    refuseForeign({ method, headers: { host: '127.0.0.1:8701', ...headers } })?.status

  const link = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
  test.each<{ from: string; headers: Record<string, string>; method?: string; status?: number }>([
    { from: 'its own address', headers: {} },
    { from: 'localhost', headers: { host: 'localhost:8701' } },
    { from: 'a foreign name for this machine', headers: { host: 'evil.example:8701' }, status: 421 },
    { from: 'a name that begins like a local one', headers: { host: '127.0.0.1.evil.example' }, status: 421 },
    {
      from: 'its own script',
      headers: { origin: 'http://127.0.0.1:8701', 'sec-fetch-site': 'same-origin' },
      method: 'POST',
    },
    {
      from: 'a page of another site',
      headers: { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
      method: 'POST',
      status: 403,
    },
    { from: 'a page on another port', headers: { origin: 'http://127.0.0.1:9999' }, method: 'POST', status: 403 },
    { from: 'an image of another site', headers: { ...link, 'sec-fetch-mode': 'no-cors' }, status: 403 },
    { from: 'a link of another site', headers: link },
    { from: 'a form of another site', headers: link, method: 'POST', status: 403 },
    { from: 'a frame of another site', headers: { ...link, 'sec-fetch-dest': 'iframe' }, status: 403 },
  ])('$from', ({ headers, method, status }) => {
    expect(refusal(headers, method)).toBe(status)
  })
})

test('isLocalHost accepts the names of this machine only', () => {
  expect(['localhost', 'LOCALHOST:80', '[::1]:8080', '127.0.0.1'].map(isLocalHost)).toEqual([true, true, true, true])
  expect([undefined, '', 'localhost.evil.example', '10.0.0.1', 'localhost:'].map(isLocalHost)).toEqual(
    Array<boolean>(5).fill(false),
  )
})

test('acceptsHtml tells a browser from curl', () => {
  expect(acceptsHtml({ headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } })).toBe(true)
  expect(acceptsHtml({ headers: { accept: '*/*' } })).toBe(false)
  expect(acceptsHtml({ headers: {} })).toBe(false)
})
