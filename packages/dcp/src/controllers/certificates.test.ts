/** Certificates that a program is to trust, as files. */
import { X509Certificate } from 'node:crypto'
import { makeAuthority } from 'evenkeel/unstable/wire'
import { SystemClock, SystemRandom } from 'evenkeel/unstable/base'
import { expect, test } from 'vitest'
import { Executable } from '../kinds/executable.ts'
import { startApplication, stateIs } from './plane.fixture.ts'
import { subjectHash } from './subject-hash.ts'

const contents = makeAuthority({ clock: new SystemClock(), random: new SystemRandom() }).certificatePem
const hash = subjectHash(new X509Certificate(contents))
const spec = (certificates: readonly object[], more: object = {}) => ({
  spec: { executablePath: 'serve', pemCertificates: { certificates, ...more } },
})
const broken = { thumbprint: 'BAD', contents: 'nothing' }

test('certificates are there before the program starts, and gone with its object', async () => {
  const app = await startApplication()
  const twice = [
    { thumbprint: 'AB', contents },
    { thumbprint: 'CD', contents },
  ]
  const created = await app.create(Executable, 'web', spec(twice))
  await app.until(Executable, 'web', stateIs('Running'))
  const paths = ['AB.pem', 'CD.pem', `${hash}.0`, `${hash}.1`].map((name) => `/session/web/certs/${name}`)
  for (const path of paths) expect(app.files.contents[path]).toBe(contents)
  expect(app.files.contents['/session/web/cert.pem']).toBe(`${contents}\n${contents}`)
  await app.client.delete(created)
  await app.untilGone(Executable, 'web')
  expect(Object.keys(app.files.contents).filter((path) => path.startsWith('/session/web/'))).toEqual([])
})

test('a certificate that cannot be read is left out with continueOnError, and else the program is not started', async () => {
  const app = await startApplication()
  await app.create(Executable, 'web', spec([broken, { thumbprint: 'AB', contents }], { continueOnError: true }))
  const strict = await app.create(Executable, 'strict', spec([broken]))
  await app.until(Executable, 'web', stateIs('Running'))
  expect(app.files.contents['/session/web/cert.pem']).toBe(contents)
  await app.until(Executable, 'strict', stateIs('FailedToStart'))
  expect(app.systemLog(strict)).toContain('the certificate BAD cannot be read')
})
