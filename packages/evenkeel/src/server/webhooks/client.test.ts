import { expect, test } from 'vitest'
import type { HttpsOptions } from '#wire'
import { WebhookClient, type WebhookServiceReference } from './client.ts'

test('WebhookClient calls port 443 of a service that names no port', async () => {
  const [resolved, origins]: [WebhookServiceReference[], string[]] = [[], []]
  const client = new WebhookClient(
    { service: { namespace: 'ns', name: 'hook' } },
    {
      resolveService: (service) => {
        resolved.push(service)
        return { host: '10.0.0.1', port: 8443 }
      },
      connect: ({ origin }: HttpsOptions) => {
        origins.push(origin)
        const transport = () => Promise.resolve({ status: 200, headers: {}, body: Buffer.from('{}') })
        return { transport, close: () => undefined }
      },
    },
  )
  expect(await client.call({}, { signal: new AbortController().signal, timeoutSeconds: 1 })).toEqual({})
  expect(resolved).toEqual([{ namespace: 'ns', name: 'hook', port: 443 }])
  expect(origins).toEqual(['https://hook.ns.svc'])
})
