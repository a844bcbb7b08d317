/**
 * A self-signed certificate for 127.0.0.1: X.509 in as few bytes as verifiers accept.
 */
import { generateKeyPairSync, sign } from 'node:crypto'

interface SelfSigned {
  readonly keyPem: string
  readonly certificatePem: string
}

const tags = {
  truth: 0x01,
  integer: 0x02,
  bits: 0x03,
  octets: 0x04,
  id: 0x06,
  text: 0x0c,
  sequence: 0x30,
  set: 0x31,
  time: 0x17,
  version: 0xa0,
  extensions: 0xa3,
  address: 0x87,
} as const
const ids = {
  ecdsaWithSha256: '2a8648ce3d040302',
  commonName: '550403',
  alternativeNames: '551d11',
  basicConstraints: '551d13',
} as const

export function selfSigned(): SelfSigned {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  const algorithm = sequence(idOf('ecdsaWithSha256'))
  const name = sequence(der('set', sequence(idOf('commonName'), der('text', Buffer.from('judge')))))
  const validity = sequence(der('time', Buffer.from('200101000000Z')), der('time', Buffer.from('491231235959Z')))
  const body = sequence(
    der('version', der('integer', Buffer.of(2))),
    der('integer', Buffer.of(1)),
    algorithm,
    name,
    validity,
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der('extensions', sequence(...extensions())),
  )
  const signature = der('bits', Buffer.of(0), sign('sha256', body, privateKey))
  const certificate = sequence(body, algorithm, signature)
    .toString('base64')
    .replace(/.{1,64}/g, '$&\n')
  return {
    keyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    certificatePem: `-----BEGIN CERTIFICATE-----\n${certificate}-----END CERTIFICATE-----\n`,
  }
}

/** It is its own CA and valid for one address. */
function extensions(): Buffer[] {
  const always = der('truth', Buffer.of(0xff))
  return [
    sequence(idOf('basicConstraints'), always, der('octets', sequence(always))),
    sequence(idOf('alternativeNames'), der('octets', sequence(der('address', Buffer.of(127, 0, 0, 1))))),
  ]
}

function idOf(name: keyof typeof ids): Buffer {
  return der('id', Buffer.from(ids[name], 'hex'))
}

function sequence(...parts: readonly Uint8Array[]): Buffer {
  return der('sequence', ...parts)
}

/** Tag, length, content; lengths up to 65535. */
function der(tag: keyof typeof tags, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts)
  const { length } = content
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.of(tags[tag], ...size), content])
}
