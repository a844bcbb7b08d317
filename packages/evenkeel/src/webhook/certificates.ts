/**
 * Where the certificate of a listener comes from, and how it is renewed: from our own authority, or from files.
 *
 * With our own authority no other product is needed. Callers must know the authority (`caBundle`), so it changes rarely,
 * and never without notice:
 *
 *   authority   a ────────────── a + b ─────────── b ...
 *   bundle      a             a and b           a and b
 *   signed by   a                 a                 b
 *
 * Files are replaced from time to time by another program. Two files are never replaced at once, and a half-written one is
 * no reason to stop serving: the last valid pair is used until there is a new one.
 *
 * Invariants: a certificate is replaced when a third of its validity is left; an authority that would not outlive the
 * next certificate gets a successor, which is in the bundle for one whole certificate before it signs anything; only a
 * certificate and a key that fit together are used.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { parseTime } from '#api'
import {
  silentLogger,
  sleep,
  SystemClock,
  SystemRandom,
  type Clock,
  type Counter,
  type Logger,
  type Metrics,
  type Random,
} from '#base'
import { issueServerCertificate, makeAuthority, type CertificateKeyPair } from '#wire'

/** A certificate (or a chain) and its key, in PEM. */
export interface ServerCertificate {
  readonly certificatePem: string
  readonly keyPem: string
}

export interface CertificateSource {
  /** The first one. @throws when there is none yet. */
  current(): Promise<ServerCertificate>
  /** Calls back with every new one until the signal aborts. */
  watch(signal: AbortSignal, onChange: (certificate: ServerCertificate) => void): Promise<void>
}

interface SelfSignedCertificatesOptions {
  /** The names and addresses of the webhook: `hooks.shop.svc`, `127.0.0.1`. */
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
  /** Called when the bundle changes, so that callers can be updated. */
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
  /** The successor, which is in the bundle already. */
  #successor: CertificateKeyPair | undefined
  /** Predecessors whose certificates may still be in use. */
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

  /** The successor has been in the bundle for a whole certificate, so it may sign now. */
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

/** `Nov  5 11:24:15 2026 GMT`: the only form that every version of Node gives. */
function expiryOf({ certificatePem }: CertificateKeyPair): number {
  const { validTo } = new X509Certificate(certificatePem)
  const [, month = '', day = '', time = '', year = ''] = /^(\w{3}) +(\d+) ([\d:]+) (\d{4}) GMT$/.exec(validTo) ?? []
  const two = (value: number | string): string => String(value).padStart(2, '0')
  const expiryMs = parseTime(`${year}-${two(months.indexOf(month) + 1)}-${two(day)}T${time}Z`)
  if (expiryMs === undefined)
    throw new RangeError(`the end of a certificate cannot be read: ${JSON.stringify(validTo)}`)
  return expiryMs
}

interface FileCertificatesOptions {
  readonly certFile: string
  readonly keyFile: string
  /**
   * How often the files are checked.
   *
   * @default 10_000
   */
  readonly everyMs?: number
  readonly clock?: Clock
  readonly log?: Logger
  readonly metrics?: Metrics
}

export function fileCertificates({
  certFile,
  keyFile,
  everyMs = 10_000,
  clock = new SystemClock(),
  log = silentLogger,
  metrics,
}: FileCertificatesOptions): CertificateSource {
  if (!(everyMs > 0)) throw new RangeError(`everyMs must be above 0, got ${everyMs}`)
  const reads: Counter | undefined = metrics
    ?.counter('certwatcher_read_certificate_total', { help: 'How often certificates were read.' })
    .with()
  const errors: Counter | undefined = metrics
    ?.counter('certwatcher_read_certificate_errors_total', { help: 'How often certificates could not be read.' })
    .with()
  const current = async (): Promise<ServerCertificate> => {
    reads?.add()
    try {
      return await readPair(certFile, keyFile)
    } catch (error) {
      errors?.add()
      throw error
    }
  }
  let known: ServerCertificate | undefined
  return {
    current: async () => (known = await current()),
    async watch(signal, onChange) {
      for (;;) {
        await sleep(clock, everyMs, { signal }).catch(() => undefined)
        if (signal.aborted) return
        try {
          const next = await current()
          if (known?.certificatePem === next.certificatePem && known.keyPem === next.keyPem) continue
          known = next
          log.info('webhook certificate replaced', { certFile })
          onChange(next)
        } catch (error) {
          log.warn('cannot read webhook certificate; using the last one', { certFile, error })
        }
      }
    },
  }
}

async function readPair(certFile: string, keyFile: string): Promise<ServerCertificate> {
  const [certificatePem, keyPem] = await Promise.all([readFile(certFile, 'utf8'), readFile(keyFile, 'utf8')])
  if (!new X509Certificate(certificatePem).checkPrivateKey(createPrivateKey(keyPem)))
    throw new Error(`the key in ${keyFile} is not that of the certificate in ${certFile}`)
  return { certificatePem, keyPem }
}
