/**
 * Servers of this process: where they listen.
 */
import { X509Certificate } from 'node:crypto'
import { isIP, type AddressInfo, type Server } from 'node:net'
import { checkServerIdentity as checkByNode, type PeerCertificate } from 'node:tls'

export interface ListenAddress {
  readonly host: string
  /** 0 for any that is free. */
  readonly port: number
  readonly protocol: 'http' | 'https'
}

/** Listens, and gives the address to call. @throws when the port cannot be had. */
export async function listenAt(server: Server, { host, port, protocol }: ListenAddress): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve()
    })
  })
  const { port: taken } = server.address() as AddressInfo
  return `${protocol}://${host.includes(':') ? `[${host}]` : host}:${taken}`
}

/*
 * Whether a certificate is for whom was called, where Node does not know: Node 22.23 takes an address of version 6 for a name, and
 * refuses every certificate for it.
 *
 * Where Node knows it is left to Node, because connections with a check of their own are not shared on some versions.
 */

interface IdentityCheck {
  readonly checkServerIdentity?: typeof checkAddressIdentity
}

const rejectsIpv6 =
  checkByNode('::1', { subject: {}, subjectaltname: 'IP Address:0:0:0:0:0:0:0:1' } as unknown as PeerCertificate) !==
  undefined

/** What to add to the options of a connection to a host. */
export function identityCheck(host: string): IdentityCheck {
  return rejectsIpv6 && isIP(host) === 6 ? { checkServerIdentity: checkAddressIdentity } : {}
}

/** What is wrong, if anything. */
export function checkAddressIdentity(host: string, certificate: PeerCertificate): Error | undefined {
  if (new X509Certificate(certificate.raw).checkIP(host) !== undefined) return undefined
  const reason = `IP: ${host} is not in the cert's list: ${certificate.subjectaltname ?? ''}`
  return Object.assign(new Error(`Hostname/IP does not match certificate's altnames: ${reason}`), {
    code: 'ERR_TLS_CERT_ALTNAME_INVALID',
    reason,
    host,
    cert: certificate,
  })
}
