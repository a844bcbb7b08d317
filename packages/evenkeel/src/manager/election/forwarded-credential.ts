/**
 * A credential that another thread hands over, for whoever cannot get one alone (a plugin may want to talk to a person).
 *
 * Invariant: the last one is used until the server refuses it, so a main thread that stands still stops nobody; a fresh
 * one is asked for now and then, in passing, and waited for only after a refusal.
 */
import { abortable, deferred } from '#base'
import type { Clock, Deferred } from '#base'
import type { Credential, CredentialSource } from '#client'

interface ForwardedCredentialOptions {
  readonly clock: Clock
  readonly ask: (refused: boolean) => void
  /**
   * How often a fresh one is asked for.
   *
   * @default 10_000
   */
  readonly askEveryMs?: number
}

export class ForwardedCredential implements CredentialSource {
  readonly #options: ForwardedCredentialOptions
  #known: Credential
  #askedAtMs = -Infinity
  #wanted: Deferred<Credential> | undefined

  constructor(first: Credential, options: ForwardedCredentialOptions) {
    this.#known = first
    this.#options = options
  }

  get({ signal }: { signal?: AbortSignal | undefined } = {}): Promise<Credential> {
    if (this.#wanted) return abortable(this.#wanted.promise, { signal })
    const { clock, ask, askEveryMs = 10_000 } = this.#options
    if (clock.monotonic() - this.#askedAtMs >= askEveryMs) {
      this.#askedAtMs = clock.monotonic()
      ask(false)
    }
    return Promise.resolve(this.#known)
  }

  refuse(credential: Credential): boolean {
    if (credential !== this.#known || this.#wanted) return true
    this.#wanted = deferred()
    this.#options.ask(true)
    return true
  }

  /** The other thread has one. The same text as before stays the same object. */
  hand(credential: Credential): void {
    const { authorization, certPem, keyPem } = this.#known
    const isSame =
      authorization === credential.authorization && certPem === credential.certPem && keyPem === credential.keyPem
    if (!isSame) this.#known = credential
    this.#wanted?.resolve(this.#known)
    this.#wanted = undefined
  }
}
