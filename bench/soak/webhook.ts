/**
 * An unreliable webhook: it denies, fails, hangs up, or exceeds its timeout.
 */
import { createServer } from 'node:https'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { makeIdentity } from 'evenkeel/server'
import type { Caller } from './calls.ts'
import type { Tally } from './tally.ts'

const timeoutSeconds = 1
const slowMs = 1500

export interface Webhook {
  stop(): Promise<void>
}

/** Starts it and registers it for objects labelled `hooked`. */
export async function startWebhook(caller: Caller, tally: Tally): Promise<Webhook> {
  const {
    server: { keyPem: key, certificatePem: cert },
    authority,
  } = makeIdentity({ names: ['127.0.0.1'] })
  const server = createServer({ key, cert }, (request, response) => {
    answer(request, response, tally)
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const clientConfig = {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    caBundle: Buffer.from(authority.certificatePem).toString('base64'),
  }
  const rules = [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }]
  const webhooks = ['Ignore', 'Fail'].map((failurePolicy) => ({
    name: `${failurePolicy.toLowerCase()}.soak.dev`,
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    timeoutSeconds,
    failurePolicy,
    clientConfig,
    rules,
    objectSelector: { matchLabels: { hooked: failurePolicy.toLowerCase() } },
  }))
  await caller.must('POST', '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations', {
    body: { metadata: { name: 'soak' }, webhooks },
  })
  return {
    stop() {
      server.closeAllConnections()
      return new Promise((resolve) => {
        server.close(() => {
          resolve()
        })
      })
    },
  }
}

function answer(request: IncomingMessage, response: ServerResponse, tally: Tally): void {
  const pieces: Buffer[] = []
  request.on('data', (piece: Buffer) => {
    pieces.push(piece)
  })
  request.on('error', () => undefined)
  request.on('end', () => {
    tally.count('webhookCalls')
    const chance = Math.random()
    if (chance < 0.4) tally.count('webhookFaults')
    if (chance < 0.1) response.writeHead(500).end('no')
    else if (chance < 0.2) request.socket.destroy()
    else if (chance < 0.3)
      setTimeout(() => {
        decide(response, pieces, true)
      }, slowMs)
    else decide(response, pieces, chance >= 0.4)
  })
}

function decide(response: ServerResponse, pieces: readonly Buffer[], allowed: boolean): void {
  const {
    apiVersion,
    kind,
    request: { uid },
  } = JSON.parse(Buffer.concat(pieces).toString()) as { apiVersion: string; kind: string; request: { uid: string } }
  response
    .setHeader('content-type', 'application/json')
    .end(JSON.stringify({ apiVersion, kind, response: { uid, allowed } }))
}
