/**
 * What a server wants to say beside its answer: `Warning` headers, each text told once.
 *
 * Invariant: at most `rememberedMax` texts are remembered; a server that invents a new one every time cannot make the
 * set grow, its old ones are then told again.
 */
import type { WireHeaders } from '#wire'

export type WarningHandler = (text: string, about: { readonly method: string; readonly target: string }) => void

const rememberedMax = 1000

export class Warnings {
  readonly #handler: WarningHandler
  readonly #told = new Set<string>()

  constructor(handler: WarningHandler) {
    this.#handler = handler
  }

  /** Passes on what the answer to a request says for the first time. */
  note(headers: WireHeaders, about: { readonly method: string; readonly target: string }): void {
    const header = headers['warning']
    if (header === undefined) return
    for (const text of readWarnings(header)) {
      if (this.#told.has(text)) continue
      if (this.#told.size >= rememberedMax) this.#told.clear()
      this.#told.add(text)
      this.#handler(text, about)
    }
  }
}

/** The texts of `299 - "text"`, of which several may stand in one header; other codes are for caches, not for people. */
function readWarnings(header: string): string[] {
  return [...header.matchAll(/(\d{3}) (?:[^\s"]+) "((?:[^"\\]|\\.)*)"/g)]
    .filter(([, code]) => code === '299')
    .map(([, , quoted = '']) => quoted.replace(/\\(.)/g, '$1'))
    .filter((text) => text !== '')
}
