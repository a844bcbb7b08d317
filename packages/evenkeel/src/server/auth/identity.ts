/**
 * The identity of an installation: its certificate authority, a server certificate signed by it, the administrator's
 * token, and client certificates for further users.
 *
 *   ca.pem        certificate and key of the authority; clients trust only this one
 *   server.pem    certificate and key of the server, renewed when the names change or it is about to expire
 *   front-proxy-ca.pem, front-proxy-client.pem   this server as a proxy before aggregated API servers
 *   token         256 random bits, in base64url
 *   administrator.pem  the client certificate of the kubeconfig, in a data folder
 *   accounts.pem  keys of service accounts, the newest first; to rotate, put a new one in front
 *
 * Invariants: certificate and key are in one file, so a crash cannot leave a pair that does not match; a valid file is
 * never replaced; a damaged file is never replaced silently. Only the owner of the data folder may call this: two
 * processes must not use one folder at the same time.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import { join } from 'node:path'
import { SystemClock, SystemRandom, type Clock, type Random } from '#base'
import {
  issueClientCertificate,
  issueServerCertificate,
  makeAuthority,
  makeRsaKeyPair,
  type CertificateKeyPair,
} from '#wire'
import { validityOf } from './client-certificates.ts'
import { issueFrontProxyClient, type FrontProxyIdentity } from './front-proxy-identity.ts'
import { ensureSecretFolder, IdentityError, readSecretFile, writeSecretFile } from './secret-files.ts'
import { makeServiceAccountKey, parsePemKeys } from './service-account-keys.ts'

export interface Identity {
  /** Signs certificates; clients trust its certificate. */
  readonly authority: CertificateKeyPair
  readonly server: CertificateKeyPair
  /** The administrator's bearer token. */
  readonly token: string
  /**
   * Keys of service accounts in PEM: the first signs tokens, all verify them.
   *
   * @default one that lives as long as the server
   */
  readonly accountKeys?: readonly string[]
  /**
   * This server as a proxy before aggregated API servers.
   *
   * @default one that lives as long as the server
   */
  readonly frontProxy?: FrontProxyIdentity
}

export interface IdentityOptions {
  /**
   * @default the machine's clock
   */
  clock?: Clock
  /**
   * The source of the token and of serial numbers.
   *
   * @default the random source of the machine
   */
  random?: Random
  /**
   * Further names and addresses of the server, beside loopback and `kubernetes…`.
   *
   * @default none
   */
  names?: readonly string[]
}

const defaultNames = [
  'localhost',
  '127.0.0.1',
  '::1',
  'kubernetes',
  'kubernetes.default',
  'kubernetes.default.svc',
  'kubernetes.default.svc.cluster.local',
]
const dayMs = 86_400_000
/**
 * An authority has to outlive the certificates it signs. A clock that was set back is no reason to replace it: clients
 * would lose access.
 */
const authorityLeftMs = 400 * dayMs
const serverLeftMs = 90 * dayMs
const tokenText = /^[\w-]{43}$/

/** An identity that lives as long as the process. */
export function makeIdentity({
  clock = new SystemClock(),
  random = new SystemRandom(),
  names = [],
}: IdentityOptions = {}): Identity {
  const authority = makeAuthority({ clock, random })
  return {
    authority,
    server: issueServerCertificate(authority, { clock, random, names: allNames(names) }),
    token: makeToken(random),
  }
}

/**
 * The identity in a folder; missing and expiring parts are created.
 *
 * @throws {IdentityError} when other users can read the files, or one of them is damaged.
 */
export async function ensureIdentity(
  folder: string,
  { clock = new SystemClock(), random = new SystemRandom(), names = [] }: IdentityOptions = {},
): Promise<Identity> {
  await ensureSecretFolder(folder)
  const authorityPath = join(folder, 'ca.pem')
  const authority = await ensureCredential(authorityPath, {
    isGood: (found) => validityOf(found).toMs - clock.now() >= authorityLeftMs,
    make: () => makeAuthority({ clock, random }),
  })
  const server = await ensureCredential(join(folder, 'server.pem'), {
    isGood: (found) => isCurrent(found, clock) && isIssuedBy(found, authority) && isFor(found, allNames(names)),
    make: () => issueServerCertificate(authority, { clock, random, names: allNames(names) }),
  })
  const token = await ensureToken(join(folder, 'token'), random)
  const accountKeys = [await ensureAccountKeys(join(folder, 'accounts.pem'))]
  return { authority, server, token, accountKeys, frontProxy: await ensureFrontProxy(folder, { clock, random }) }
}

async function ensureFrontProxy(
  folder: string,
  context: { readonly clock: Clock; readonly random: Random },
): Promise<FrontProxyIdentity> {
  const authority = await ensureCredential(join(folder, 'front-proxy-ca.pem'), {
    isGood: (found) => validityOf(found).toMs - context.clock.now() >= authorityLeftMs,
    make: () => makeAuthority(context),
  })
  const client = await ensureCredential(join(folder, 'front-proxy-client.pem'), {
    isGood: (found) => isCurrent(found, context.clock) && isIssuedBy(found, authority),
    make: () => issueFrontProxyClient(authority, context),
  })
  return { authority, client }
}

interface CredentialCheck {
  readonly isGood: (certificate: X509Certificate) => boolean
  readonly make: () => CertificateKeyPair | Promise<CertificateKeyPair>
}

async function ensureCredential(path: string, { isGood, make }: CredentialCheck): Promise<CertificateKeyPair> {
  const text = await readSecretFile(path)
  const found = text === undefined ? undefined : parseCredential(path, text)
  if (found && isGood(new X509Certificate(found.certificatePem))) return found
  const made = await make()
  await writeSecretFile(path, `${made.certificatePem}${made.keyPem}`)
  return made
}

function parseCredential(path: string, text: string): CertificateKeyPair {
  try {
    const certificate = new X509Certificate(text)
    const key = createPrivateKey(text)
    if (!certificate.checkPrivateKey(key)) throw new Error('the key belongs to another certificate')
    return { certificatePem: certificate.toString(), keyPem: key.export({ type: 'pkcs8', format: 'pem' }).toString() }
  } catch (error) {
    throw damaged(path, error)
  }
}

async function ensureToken(path: string, random: Random): Promise<string> {
  const found = (await readSecretFile(path))?.trim()
  if (found === undefined) {
    const token = makeToken(random)
    await writeSecretFile(path, `${token}\n`)
    return token
  }
  if (!tokenText.test(found)) throw damaged(path, new Error('it does not hold 43 characters of base64url'))
  return found
}

async function ensureAccountKeys(path: string): Promise<string> {
  const found = await readSecretFile(path)
  if (found === undefined) {
    const made = makeServiceAccountKey()
    await writeSecretFile(path, made)
    return made
  }
  try {
    if (parsePemKeys(found)[0]?.type !== 'private') throw new Error('its first key is not a private one')
    return found
  } catch (error) {
    throw damaged(path, error)
  }
}

function makeToken(random: Random): string {
  const bytes = Buffer.alloc(32)
  for (let offset = 0; offset < bytes.length; offset += 4) bytes.writeUInt32BE(random.uint32(), offset)
  return bytes.toString('base64url')
}

function damaged(path: string, cause: unknown): IdentityError {
  const reason = cause instanceof Error ? cause.message : String(cause)
  return new IdentityError(
    `${path} is damaged (${reason}): put it back from a backup, or remove it and start again, after which clients need the new kubeconfig`,
    { cause },
  )
}

function allNames(names: readonly string[]): string[] {
  return [...new Set([...defaultNames, ...names])]
}

function isCurrent(certificate: X509Certificate, clock: Clock): boolean {
  const { fromMs, toMs } = validityOf(certificate)
  return fromMs <= clock.now() && toMs - clock.now() >= serverLeftMs
}

function isIssuedBy(certificate: X509Certificate, { certificatePem }: CertificateKeyPair): boolean {
  const authority = new X509Certificate(certificatePem)
  return certificate.checkIssued(authority) && certificate.verify(authority.publicKey)
}

/** Whether a certificate is for exactly these names. */
function isFor(certificate: X509Certificate, names: readonly string[]): boolean {
  const count = certificate.subjectAltName?.split(', ').length
  return (
    count === names.length &&
    names.every((name) => (isIP(name) === 0 ? certificate.checkHost(name) : certificate.checkIP(name)) !== undefined)
  )
}

export interface IssueClientOptions {
  /** The name of the user. */
  readonly user: string
  /**
   * The groups of the user; `system:masters` may do everything.
   *
   * @default none
   */
  readonly groups?: readonly string[]
  /**
   * How long it is valid. It cannot be revoked.
   *
   * @default a year
   */
  readonly validMs?: number
  /** @default the machine's clock */
  readonly clock?: Clock
  /** @default the machine's source */
  readonly random?: Random
}

/** A client certificate and its key: RSA, because Java's clients read no other without an extra library. */
export async function issueClient(
  { authority }: Pick<Identity, 'authority'>,
  { user, groups = [], validMs, clock = new SystemClock(), random = new SystemRandom() }: IssueClientOptions,
): Promise<CertificateKeyPair> {
  if (user === '') throw new RangeError('a client certificate needs the name of a user')
  return issueClientCertificate(authority, {
    subject: { commonName: user, organizations: groups },
    clock,
    random,
    keys: await makeRsaKeyPair(),
    ...(validMs !== undefined && { validMs }),
  })
}

/** The client certificate in a file of the identity's folder; a missing or expiring one is issued. */
export function ensureClient(
  path: string,
  { authority, ...options }: Pick<Identity, 'authority'> & IssueClientOptions,
): Promise<CertificateKeyPair> {
  const { clock = new SystemClock() } = options
  return ensureCredential(path, {
    isGood: (found) => isCurrent(found, clock) && isIssuedBy(found, authority),
    make: () => issueClient({ authority }, options),
  })
}
