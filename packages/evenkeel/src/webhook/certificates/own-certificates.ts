/**
 * Certificates from an authority of our own: no other product is needed. Whoever calls must be told of the authority
 * (`caBundle`), so it changes rarely, and never without notice.
 *
 *   authority   a ────────────── a + b ─────────── b ...
 *   bundle      a             a and b (told)    a and b
 *   signed by   a                 a                 b
 *
 * Invariants: a certificate is replaced when a third of its time is left; an authority that would not outlive the next
 * certificate gets a successor, which is in the bundle for one whole certificate before it signs anything.
 */
import { X509Certificate } from 'node:crypto'
import { silentLogger, sleep, SystemClock, SystemRandom } from '#base'
import type { Clock, Logger, Random } from '#base'
import { parseTime } from '#api'
import { issueServerCertificate, makeAuthority } from '#wire'
import type { CertificateKeyPair } from '#wire'
import type { CertificateSource, ServerCertificate } from './certificate-source.ts'

export interface SelfSignedCertificatesOptions {
  /** Under which names and addresses the webhook is called: `hooks.shop.svc`, `127.0.0.1`. */
  readonly names: readonly string[]
  /**
   * The authority, for replicas that share one.
   *
   * @default a new one
   */
  readonly authority?: CertificateKeyPair
  /**
   * How long a certificate is good for.
   *
   * @default 90 days
   */
  readonly validMs?: number
  /** Told whenever callers have to be told. */
  readonly onBundle?: (caBundle: string) => void
  readonly clock?: Clock
  readonly random?: Random
  readonly log?: Logger
}

const dayMs = 86_400_000

export class SelfSignedCertificates implements CertificateSource {
  readonly #options: SelfSignedCertificatesOptions
  readonly #clock: Clock
  readonly #random: Random
  readonly #validMs: number
  #authority: CertificateKeyPair
  /** Signs next: callers are being told. */
  #successor: CertificateKeyPair | undefined
  /** Signed what may still be in use. */
  #predecessor: CertificateKeyPair | undefined

  constructor(options: SelfSignedCertificatesOptions) {
    const { names, authority, validMs = 90 * dayMs, clock = new SystemClock(), random = new SystemRandom() } = options
    if (names.length === 0)
      throw new RangeError('a webhook needs at least one name or address under which it is called')
    if (!(validMs > 0)) throw new RangeError(`validMs must be above 0, got ${validMs}`)
    this.#options = options
    this.#clock = clock
    this.#random = random
    this.#validMs = validMs
    this.#authority = authority ?? makeAuthority({ clock, random })
  }

  /** The authorities to trust, as webhook configurations want them: PEM in base64. */
  get caBundle(): string {
    return Buffer.from(this.caPem).toString('base64')
  }

  /** The authorities to trust, in PEM. */
  get caPem(): string {
    return [this.#authority, this.#successor, this.#predecessor]
      .map((authority) => authority?.certificatePem ?? '')
      .join('')
  }

  current(): Promise<ServerCertificate> {
    this.#prepareSuccessor()
    return Promise.resolve(this.#issue())
  }

  async watch(signal: AbortSignal, onChange: (certificate: ServerCertificate) => void): Promise<void> {
    for (;;) {
      await sleep(this.#clock, (this.#validMs * 2) / 3, { signal }).catch(() => undefined)
      if (signal.aborted) return
      this.#succeed()
      this.#prepareSuccessor()
      onChange(this.#issue())
      ;(this.#options.log ?? silentLogger).info('the certificate of the webhooks was renewed')
    }
  }

  #issue(): ServerCertificate {
    const leftMs = expiryOf(this.#authority) - this.#clock.now()
    return issueServerCertificate(this.#authority, {
      clock: this.#clock,
      random: this.#random,
      names: this.#options.names,
      validMs: Math.max(1000, Math.min(this.#validMs, leftMs)),
    })
  }

  /** The successor was told a whole certificate ago, so it may sign now. */
  #succeed(): void {
    if (this.#predecessor === undefined && this.#successor === undefined) return
    this.#predecessor = this.#successor && this.#authority
    this.#authority = this.#successor ?? this.#authority
    this.#successor = undefined
    this.#options.onBundle?.(this.caBundle)
  }

  /** Two certificates ahead: one under the old authority while the new one gets known, one in reserve. */
  #prepareSuccessor(): void {
    if (this.#successor || expiryOf(this.#authority) - this.#clock.now() > 2 * this.#validMs) return
    this.#successor = makeAuthority({ clock: this.#clock, random: this.#random })
    this.#options.onBundle?.(this.caBundle)
  }
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** `Nov  5 11:24:15 2026 GMT`, which is all that every version of Node tells. */
function expiryOf({ certificatePem }: CertificateKeyPair): number {
  const { validTo } = new X509Certificate(certificatePem)
  const [, month = '', day = '', time = '', year = ''] = /^(\w{3}) +(\d+) ([\d:]+) (\d{4}) GMT$/.exec(validTo) ?? []
  const two = (value: number | string): string => String(value).padStart(2, '0')
  const expiryMs = parseTime(`${year}-${two(months.indexOf(month) + 1)}-${two(day)}T${time}Z`)
  if (expiryMs === undefined)
    throw new RangeError(`the end of a certificate cannot be read: ${JSON.stringify(validTo)}`)
  return expiryMs
}
