import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { afterEach, describe, expect, test } from 'vitest'
import { declareKind } from '#api'
import { deferred, Metrics, SimulatedClock, SystemClock, SystemRandom } from '#base'
import { connectHttps, issueClientCertificate, issueServerCertificate, makeAuthority } from '#wire'
import { fileCertificates, SelfSignedCertificates } from './certificates.ts'
import { runWebhookListener, type WebhookListenerOptions } from './listener.ts'
import { Webhooks } from './webhooks.ts'

const system = { clock: new SystemClock(), random: new SystemRandom() }
const configMap = declareKind({ group: '', version: 'v1', kind: 'ConfigMap' })
const ends: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

async function serve(
  options: Partial<WebhookListenerOptions> & Pick<WebhookListenerOptions, 'certificates'>,
  hooks = validating(),
): Promise<{ url: string; port: number; stop: () => Promise<void> }> {
  const stopping = new AbortController()
  const listening = deferred<string>()
  const run = runWebhookListener(stopping.signal, {
    transport: hooks.transport,
    port: 0,
    onListening: listening.resolve,
    ...options,
  })
  run.catch(listening.reject)
  const stop = async (): Promise<void> => {
    stopping.abort()
    await run
  }
  ends.push(stop)
  const url = await listening.promise
  return { url, port: Number(new URL(url).port), stop }
}

function validating(): Webhooks {
  const hooks = new Webhooks()
  hooks.addValidating(configMap, () => undefined)
  return hooks
}

const review = {
  apiVersion: 'admission.k8s.io/v1',
  kind: 'AdmissionReview',
  request: {
    uid: 'r',
    operation: 'CREATE',
    kind: { version: 'v1', kind: 'ConfigMap' },
    object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } },
  },
}
const path = '/validate--v1-configmap'

interface Shown {
  readonly status: number
  readonly serial: string
  readonly text: string
}

function post(
  url: string,
  {
    body = Buffer.from(JSON.stringify(review)),
    ...tls
  }: { body?: Uint8Array; ca: string; cert?: string; key?: string },
): Promise<Shown> {
  return new Promise((resolve, reject) => {
    const sent = request(
      `${url}${path}`,
      {
        method: 'POST',
        agent: false,
        headers: { 'content-type': 'application/json', 'content-length': body.length },
        ...tls,
      },
      (response) => {
        const { serialNumber } = (
          response.socket as unknown as { getPeerCertificate(): { serialNumber: string } }
        ).getPeerCertificate()
        let text = ''
        response
          .setEncoding('utf8')
          .on('data', (piece: string) => {
            text += piece
          })
          .on('end', () => {
            resolve({ status: response.statusCode ?? 0, serial: serialNumber, text })
          })
      },
    )
    sent.on('error', reject)
    sent.end(body)
  })
}

describe('runWebhookListener', () => {
  test('answers an API server that trusts the bundle, and nobody who does not', async () => {
    const certificates = new SelfSignedCertificates({ names: ['localhost', '127.0.0.1'] })
    const { url } = await serve({ certificates })
    const { transport, close } = connectHttps({ origin: url, caPem: certificates.caPem })
    const { status, body } = await transport({
      method: 'POST',
      target: `${path}?timeout=10s`,
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(JSON.stringify(review)),
      signal: new AbortController().signal,
    })
    close()
    expect([status, JSON.parse(Buffer.from(body as Uint8Array).toString())]).toMatchObject([
      200,
      { response: { uid: 'r', allowed: true } },
    ])
    const stranger = makeAuthority(system)
    await expect(post(url, { ca: stranger.certificatePem })).rejects.toThrow()
  })

  test('case 125: a body of 8 MiB is answered with 413 without being read', async () => {
    const certificates = new SelfSignedCertificates({ names: ['127.0.0.1'] })
    const { url, port } = await serve({ certificates })
    const socket = connect({ port, host: '127.0.0.1', ca: certificates.caPem })
    const answered = deferred<string>()
    socket
      .setEncoding('utf8')
      .on('data', (text: string) => {
        answered.resolve(text)
      })
      .on('error', answered.reject)
    socket.write(
      `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${8 * 1024 * 1024}\r\n\r\n{`,
    )
    expect(await answered.promise).toMatch(/^HTTP\/1\.1 413 [\s\S]*"kind":"AdmissionReview"/)
    socket.destroy()
    expect((await post(url, { ca: certificates.caPem })).status).toBe(200)
  })

  test('case 125: the next handshake uses a rotated certificate; a half-written one is not used', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'evenkeel-certs-'))
    ends.push(() => rm(folder, { recursive: true }))
    const [certFile, keyFile] = [join(folder, 'tls.crt'), join(folder, 'tls.key')]
    const authority = makeAuthority(system)
    const write = async ({ certificatePem, keyPem }: { certificatePem: string; keyPem: string }): Promise<void> => {
      await writeFile(certFile, certificatePem)
      await writeFile(keyFile, keyPem)
    }
    const [first, second] = [1, 2].map(() => issueServerCertificate(authority, { ...system, names: ['127.0.0.1'] }))
    await write(first ?? authority)
    const clock = new SimulatedClock()
    const metrics = new Metrics()
    const warnings: string[] = []
    const lines = {
      debug: () => undefined,
      info: (text: string) => {
        warnings.push(text)
      },
      warn: (text: string) => {
        warnings.push(text)
      },
      error: () => undefined,
      child: () => lines,
    }
    const { url } = await serve({ certificates: fileCertificates({ certFile, keyFile, clock, metrics, log: lines }) })
    const before = await post(url, { ca: authority.certificatePem })
    await writeFile(certFile, second?.certificatePem ?? '')
    await clock.advance(10_000)
    while (warnings.length === 0) await clock.advance(0)
    expect(warnings).toEqual(['cannot read webhook certificate; using the last one'])
    expect((await post(url, { ca: authority.certificatePem })).serial).toBe(before.serial)
    await write(second ?? authority)
    await clock.advance(10_000)
    while (warnings.length === 1) await clock.advance(0)
    const after = await post(url, { ca: authority.certificatePem })
    expect([after.status, after.serial === before.serial]).toEqual([200, false])
    expect(metrics.render()).toContain('certwatcher_read_certificate_errors_total 1')
  })

  test('row 25: lets in only callers with a certificate when that is asked for', async () => {
    const certificates = new SelfSignedCertificates({ names: ['127.0.0.1'] })
    const callers = makeAuthority(system)
    const caller = issueClientCertificate(callers, { ...system, subject: { commonName: 'kube-apiserver' } })
    const { url } = await serve({ certificates, clientCaPem: callers.certificatePem })
    await expect(post(url, { ca: certificates.caPem })).rejects.toThrow()
    expect((await post(url, { ca: certificates.caPem, cert: caller.certificatePem, key: caller.keyPem })).status).toBe(
      200,
    )
  })

  test('answers what is under way when it is stopped, and frees its port', async () => {
    const certificates = new SelfSignedCertificates({ names: ['127.0.0.1'] })
    const [asked, decided] = [deferred<void>(), deferred<undefined>()]
    const hooks = new Webhooks()
    hooks.addValidating(configMap, () => {
      asked.resolve()
      return decided.promise
    })
    const { url, port, stop } = await serve({ certificates }, hooks)
    const answer = post(url, { ca: certificates.caPem })
    await asked.promise
    const stopped = stop()
    decided.resolve(undefined)
    expect((await answer).status).toBe(200)
    await stopped
    expect((await serve({ certificates, port })).port).toBe(port)
  })

  test('rejects when there is no certificate, or when the port is taken', async () => {
    const missing = fileCertificates({ certFile: '/nowhere/tls.crt', keyFile: '/nowhere/tls.key' })
    await expect(
      runWebhookListener(new AbortController().signal, { transport: validating().transport, certificates: missing }),
    ).rejects.toThrow('ENOENT')
    const certificates = new SelfSignedCertificates({ names: ['127.0.0.1'] })
    const { port } = await serve({ certificates })
    await expect(
      runWebhookListener(new AbortController().signal, { transport: validating().transport, certificates, port }),
    ).rejects.toThrow('EADDRINUSE')
  })
})
