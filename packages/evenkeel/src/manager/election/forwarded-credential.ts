/**
 * A credential that the main thread forwards to the renewal thread, because a credential plugin may be interactive.
 *
 * Invariant: the last credential is used until the server rejects it, so a blocked main thread does not stop renewals. A
 * fresh one is requested periodically, and awaited only after a rejection.
 */
import { abortable, deferred } from '#base'
import type { Clock, Deferred } from '#base'
import type { Credential, CredentialSource } from '#client'

interface ForwardedCredentialOptions {
  readonly clock: Clock
  /** Requests a credential; `refused`: the server has rejected the last one. */
  readonly ask: (refused: boolean) => void
  /**
   * How often a fresh credential is requested.
   *
   * @default 10_000
   */
  readonly askEveryMs?: number
}

export class ForwardedCredential implements CredentialSource {
  readonly #options: ForwardedCredentialOptions
  #current: Credential
  #askedAtMs = -Infinity
  #pending: Deferred<Credential> | undefined

  constructor(first: Credential, options: ForwardedCredentialOptions) {
    this.#current = first
    this.#options = options
  }

  get({ signal }: { signal?: AbortSignal | undefined } = {}): Promise<Credential> {
    if (this.#pending) return abortable(this.#pending.promise, { signal })
    const { clock, ask, askEveryMs = 10_000 } = this.#options
    if (clock.monotonic() - this.#askedAtMs >= askEveryMs) {
      this.#askedAtMs = clock.monotonic()
      ask(false)
    }
    return Promise.resolve(this.#current)
  }

  refuse(credential: Credential): boolean {
    if (credential !== this.#current || this.#pending) return true
    this.#pending = deferred()
    this.#options.ask(true)
    return true
  }

  /** Receives a credential. An equal one keeps the same object. */
  receive(credential: Credential): void {
    const { authorization, certPem, keyPem } = this.#current
    const isSame =
      authorization === credential.authorization && certPem === credential.certPem && keyPem === credential.keyPem
    if (!isSame) this.#current = credential
    this.#pending?.resolve(this.#current)
    this.#pending = undefined
  }
}
