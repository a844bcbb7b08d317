/**
 * `Warning` headers of one response: said once each, bounded in total as kube-apiserver bounds them.
 */

/** All texts together may take this many characters before each is cut short. */
const totalMax = 4096
const shortenedMax = 256

export class Warnings {
  #texts: string[] | undefined

  add(text: string): void {
    this.#texts ??= []
    if (!this.#texts.includes(text)) this.#texts.push(text)
  }

  /** The value of the header, several warnings joined; undefined when there is nothing to say. */
  header(): string | undefined {
    if (this.#texts === undefined) return undefined
    const total = this.#texts.reduce((sum, text) => sum + text.length, 0)
    const texts = total <= totalMax ? this.#texts : shortened(this.#texts)
    return texts.map((text) => `299 - "${escapeText(text)}"`).join(', ')
  }
}

// Every text cut to its share of what a header may hold; what does not fit even then is left out.
function shortened(texts: readonly string[]): string[] {
  const kept: string[] = []
  let total = 0
  for (const text of texts) {
    const cut = [...text].slice(0, shortenedMax).join('')
    if (total + cut.length > totalMax) break
    total += cut.length
    kept.push(cut)
  }
  return kept
}

// A quoted string of HTTP: control characters become spaces, quotes and backslashes are escaped, the rest is written
// as UTF-8 bytes, each in one character, because header values are bytes.
function escapeText(text: string): string {
  const plain = text.replaceAll(/[\p{Cc}]/gu, ' ').replaceAll(/["\\]/g, (character) => `\\${character}`)
  return /^[\x20-\x7e]*$/.test(plain) ? plain : Buffer.from(plain, 'utf8').toString('latin1')
}
