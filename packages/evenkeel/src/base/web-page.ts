/**
 * Web pages that a program serves on localhost: their style, their headers, and the requests that may read them.
 *
 * A page sends no request to another host. Its policy allows only the script and the style that it was rendered with, by
 * their hashes. The colors have a contrast of at least 4.5 : 1, in the light and in the dark form.
 */
import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

/** The style of every page. A page adds its own rules, if any, after these. */
const pageStyle = `
:root { color-scheme: light dark; --back: #fbfbfa; --surface: #ffffff; --line: #e6e5e1; --edge: #85898e; --text: #1d1f21;
  --muted: #6a6f75; --accent: #2457d6; --on-accent: #ffffff; --tint: #f1f5fe; --ok: #1f7a4d; --waiting: #8a6100; --failing: #b3261e; }
@media (prefers-color-scheme: dark) {
  :root { --back: #141517; --surface: #1c1e21; --line: #2c2f33; --edge: #767c83; --text: #e8e8e6; --muted: #9aa0a6;
    --accent: #7aa2ff; --on-accent: #141517; --tint: #222b3f; --ok: #5cc08c; --waiting: #e0b64a; --failing: #ff8a80; }
}
*, *::before, *::after { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1440px; padding: 16px 24px 32px; background: var(--back); color: var(--text);
  font: 14px/1.5 system-ui, sans-serif; font-variant-numeric: tabular-nums; overflow-wrap: break-word; }
h1 { margin: 0 0 4px; font-size: 20px; line-height: 1.4; } h2 { margin: 0 0 8px; font-size: 16px; } h3 { margin: 16px 0 8px; font-size: 14px; }
p { margin: 0 0 8px; max-width: 75ch; } .muted { color: var(--muted); } .small { max-width: none; font-size: 12px; }
a { color: var(--accent); } a:focus-visible, button:focus-visible, [tabindex]:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
code, pre { font: 12px/1.5 ui-monospace, Menlo, Consolas, monospace; }
pre { margin: 0; padding: 8px; overflow-x: auto; border: 1px solid var(--line); border-radius: 6px; background: var(--back); }
button { min-height: 32px; padding: 4px 12px; border: 1px solid var(--edge); border-radius: 6px; background: var(--surface); color: inherit; font: inherit; cursor: pointer; }
button:hover { border-color: var(--accent); }
button[aria-pressed=true], button.primary { border-color: var(--accent); background: var(--accent); color: var(--on-accent); }
button[aria-disabled=true] { border: 1px dashed var(--edge); background: transparent; color: var(--muted); cursor: not-allowed; }
.row { display: flex; flex-wrap: wrap; gap: 8px; align-items: center; } .command { flex-wrap: nowrap; max-width: 720px; margin: 4px 0 8px; }
.command code { flex: 1; min-width: 0; padding: 6px 8px; border: 1px solid var(--line); border-radius: 6px; background: var(--back); overflow-wrap: anywhere; }
.panel { padding: 16px; border: 1px solid var(--line); border-radius: 6px; background: var(--surface); min-width: 0; }
table { width: 100%; border-collapse: collapse; table-layout: fixed; }
th, td { height: 32px; padding: 4px 16px 4px 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; overflow-wrap: anywhere; }
th { color: var(--muted); font-size: 12px; font-weight: 400; } th:first-child { width: 20%; }
.state.ok { color: var(--ok); } .state.waiting { color: var(--waiting); } .state.failing { color: var(--failing); } .state.unknown { color: var(--muted); }
.state::before { margin-right: 6px; content: '○'; } .state.ok::before { content: '●'; } .state.waiting::before { content: '◐'; } .state.failing::before { content: '■'; }
@media (max-width: 600px) {
  body { padding: 12px 12px 24px; font-size: 15px; } button { min-height: 44px; } .panel { padding: 12px; }
  table.stack thead { position: absolute; clip-path: inset(50%); width: 1px; height: 1px; overflow: hidden; }
  table.stack tr { display: block; padding: 8px 0; border-bottom: 1px solid var(--line); }
  table.stack td { display: block; height: auto; padding: 2px 0; border: 0; overflow-wrap: anywhere; }
  table.stack td[data-name]::before { margin-right: 8px; color: var(--muted); font-size: 12px; content: attr(data-name); }
}
`

interface WebPage {
  readonly title: string
  /** HTML that the program wrote itself: data of users is added by the script, as text. */
  readonly body: string
  /** A module. @default none */
  readonly script?: string
  /** Rules of this page only. @default none */
  readonly style?: string
}

interface RenderedPage {
  readonly html: string
  readonly headers: Readonly<Record<string, string>>
}

/** The document and its headers. */
export function renderPage({ title, body, script, style = '' }: WebPage): RenderedPage {
  if (script !== undefined && /<\/script/i.test(script)) throw new RangeError('a script must not contain its end tag')
  const css = `${pageStyle}${style}`
  const html = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>${title.replace(/&/g, '&amp;').replace(/</g, '&lt;')}</title>
<style>${css}</style>
${body}
${script === undefined ? '' : `<script type="module">${script}</script>\n`}</html>
`
  return { html, headers: { 'content-type': 'text/html; charset=utf-8', ...headersFor(css, script) } }
}

function headersFor(css: string, script: string | undefined): Record<string, string> {
  const policy = [
    "default-src 'none'",
    `style-src ${hashOf(css)}`,
    ...(script === undefined ? [] : [`script-src ${hashOf(script)}`, "connect-src 'self'"]),
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ]
  return {
    'content-security-policy': policy.join('; '),
    'x-frame-options': 'DENY',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
  }
}

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`
}

/** Whether a client can show a page: a browser can, curl and kubectl get text. */
export function acceptsHtml({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return /\btext\/html\b/i.test(headers.accept ?? '')
}

const localHost = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/i

/** Whether a Host header names this machine. A foreign name that resolves to this machine is DNS rebinding. */
export function isLocalHost(host: string | undefined): boolean {
  return localHost.test(host ?? '')
}

interface PageRefusal {
  readonly status: 403 | 421
  readonly message: string
}

/**
 * The reason to refuse a request to a page on localhost, or undefined.
 *
 * Other sites may link to the page (a navigation with GET). They may not send it anything else, nor read it.
 */
export function refuseForeign({
  method,
  headers,
}: Pick<IncomingMessage, 'method' | 'headers'>): PageRefusal | undefined {
  const { host = '', origin, 'sec-fetch-site': site } = headers
  if (!isLocalHost(host)) return { status: 421, message: `unknown host ${JSON.stringify(host)}: use localhost` }
  const isForeign = origin !== undefined && origin !== `http://${host}`
  const isLink =
    method === 'GET' && headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document'
  if (isForeign || (site !== undefined && site !== 'same-origin' && site !== 'none' && !isLink))
    return { status: 403, message: 'requests from web pages of other origins are refused' }
  return undefined
}
