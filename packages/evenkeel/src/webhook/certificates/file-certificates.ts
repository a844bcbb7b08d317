/**
 * A certificate that lies in files and is replaced there now and then, by whoever is in charge of it.
 *
 * Invariant: only a pair that fits is handed on. Two files are never replaced at once, and a half-written one is no
 * reason to stop serving: the last good pair is used until there is a new one.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { silentLogger, sleep, SystemClock } from '#base'
import type { Clock, Counter, Logger, Metrics } from '#base'
import type { CertificateSource, ServerCertificate } from './certificate-source.ts'

export interface FileCertificatesOptions {
  readonly certFile: string
  readonly keyFile: string
  /**
   * How often the files are looked at.
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
          log.info('the certificate was replaced', { certFile })
          onChange(next)
        } catch (error) {
          log.warn('the certificate cannot be read: the last one is used', { certFile, error })
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
