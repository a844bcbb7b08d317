/** The names of certificates in a folder, as OpenSSL computes them (`openssl x509 -hash`). */
import { spawnSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { issueServerCertificate, makeAuthority } from 'evenkeel/unstable/wire'
import { SystemClock, SystemRandom } from 'evenkeel/unstable/base'
import { expect, test } from 'vitest'
import { subjectHash } from './subject-hash.ts'

const hasOpenssl = spawnSync('openssl', ['version']).status === 0
const options = { clock: new SystemClock(), random: new SystemRandom() }

test.skipIf(!hasOpenssl)('the hash of a subject is that of openssl', () => {
  const authority = makeAuthority(options)
  const server = issueServerCertificate(authority, { ...options, names: ['localhost'] })
  const subject = '/C=DE/O=Some   GmbH Müller/OU= Büro /CN=ROOT Ca/emailAddress=A@Example.com'
  const made = spawnSync(
    'openssl',
    [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
      '-nodes',
      '-utf8',
      '-keyout',
      '/dev/null',
      '-subj',
      subject,
    ],
    { encoding: 'utf8' },
  )
  for (const pem of [authority.certificatePem, server.certificatePem, made.stdout]) {
    const { stdout } = spawnSync('openssl', ['x509', '-noout', '-hash'], { input: pem, encoding: 'utf8' })
    expect(stdout).toMatch(/^[0-9a-f]{8}\n$/)
    expect(`${subjectHash(new X509Certificate(pem))}\n`).toBe(stdout)
  }
})
