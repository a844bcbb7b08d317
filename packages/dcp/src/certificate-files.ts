/**
 * The identity of the server: made for the session, or with the certificate that the host of the application gives.
 *
 * Clients get the authority in the kubeconfig, and must be able to verify the certificate for the address in it: a
 * certificate that fits no address of this machine is refused at the start, not by every client.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { makeIdentity, type Identity } from 'evenkeel/server'
import type { Clock, Random } from 'evenkeel/unstable/base'
import { UsageError } from './usage-error.ts'

export interface CertificateFiles {
  readonly certFile?: string | undefined
  readonly keyFile?: string | undefined
  /** The authority, when the certificate is not its own. */
  readonly caFile?: string | undefined
  /** SHA-1 of the certificate, in hexadecimal digits. */
  readonly thumbprint?: string | undefined
}

interface IdentityOptions {
  readonly clock: Clock
  readonly random: Random
  /** The token of clients. @default a random one */
  readonly token?: string | undefined
}

interface ServerIdentity {
  readonly identity: Identity
  /** What clients trust. */
  readonly caPem: string
  /** The name or address that the certificate is for. */
  readonly host: string
}

/** @throws {UsageError} when the files do not fit together. */
export async function openIdentity(files: CertificateFiles, options: IdentityOptions): Promise<ServerIdentity> {
  const made = makeIdentity(options)
  const identity = { ...made, ...(options.token && { token: options.token }) }
  const { certFile, keyFile, caFile, thumbprint } = files
  if ((certFile === undefined) !== (keyFile === undefined))
    throw new UsageError('--tls-cert-file and --tls-key-file belong together: give both')
  if (certFile === undefined || keyFile === undefined) {
    if (thumbprint !== undefined)
      throw new UsageError(
        '--tls-cert-thumbprint alone needs a certificate store of the system: give --tls-cert-file and --tls-key-file too',
      )
    if (caFile !== undefined) throw new UsageError('--tls-ca-file is the authority of --tls-cert-file: give that too')
    return { identity, caPem: made.authority.certificatePem, host: '127.0.0.1' }
  }
  const [certificatePem, keyPem, caPem] = await Promise.all([
    readPem(certFile),
    readPem(keyFile),
    caFile === undefined ? undefined : readPem(caFile),
  ])
  const certificate = checkedCertificate(certificatePem, { keyPem, certFile, thumbprint })
  return {
    identity: { ...identity, server: { certificatePem, keyPem } },
    caPem: caPem ?? certificatePem,
    host: hostOf(certificate, certFile),
  }
}

async function readPem(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    throw new UsageError(`cannot read ${path}: ${(error as Error).message}`)
  }
}

interface CheckOptions {
  readonly keyPem: string
  readonly certFile: string
  readonly thumbprint: string | undefined
}

function checkedCertificate(pem: string, { keyPem, certFile, thumbprint }: CheckOptions): X509Certificate {
  let certificate: X509Certificate
  let isPair: boolean
  try {
    certificate = new X509Certificate(pem)
    isPair = certificate.checkPrivateKey(createPrivateKey(keyPem))
  } catch (error) {
    throw new UsageError(`${certFile} and its key must be PEM: ${(error as Error).message}`)
  }
  if (!isPair) throw new UsageError(`the key does not belong to ${certFile}`)
  const found = certificate.fingerprint.replaceAll(':', '')
  if (thumbprint !== undefined && thumbprint.replaceAll(/[:\s]/g, '').toUpperCase() !== found)
    throw new UsageError(`${certFile} has the thumbprint ${found}, not ${thumbprint}`)
  return certificate
}

/** Loopback by name or number, whichever the certificate has. */
function hostOf(certificate: X509Certificate, certFile: string): string {
  if (certificate.checkHost('localhost') !== undefined) return 'localhost'
  const address = ['127.0.0.1', '::1'].find((one) => certificate.checkIP(one) !== undefined)
  if (address !== undefined) return address
  throw new UsageError(
    `${certFile} is for ${certificate.subjectAltName ?? 'no name'}: it must be for localhost, 127.0.0.1 or ::1`,
  )
}
