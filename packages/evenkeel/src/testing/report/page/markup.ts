/**
 * Text for a page in which everything that is put in is escaped, unless it was made by this too.
 */
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
  // What a terminal or an editor would act on has no business on a page.
  return String(part)
    .replace(/[&<>"']/g, (sign) => entities[sign] ?? sign)
    .replace(/[\p{Cc}\p{Bidi_Control}]/gu, (sign) => (sign === '\n' || sign === '\t' ? sign : '\ufffd'))
}
