import { describe, expect, test } from 'vitest'
import type { WireHeaders, WireResponse } from '#wire'
import { guardOrigin } from './origin-guard.ts'

const guarded = guardOrigin(() => Promise.resolve({ status: 200, headers: {} }), {
  hosts: ['Example.com', '10.0.0.1', 'fd00::1'],
})
const call = (headers: WireHeaders): Promise<WireResponse> =>
  guarded({ method: 'GET', target: '/', headers, signal: new AbortController().signal })

describe('rows 5 and 6: guardOrigin', () => {
  const statuses: [number, WireHeaders[]][] = [
    [
      200,
      [
        'localhost',
        'localhost:6443',
        'LOCALHOST',
        'localhost.',
        '127.0.0.1:1',
        '[::1]',
        '[::1]:443',
        'example.com:1',
        '10.0.0.1',
        '[FD00::1]:2',
        'kubernetes.default.svc',
      ].map((host) => ({ host })),
    ],
    [
      421,
      [
        '',
        'evil.com',
        'evil.com:6443',
        'localhost.evil.com',
        'evil.com/localhost',
        'localhost@evil.com',
        'evil@localhost',
        'localhost:x',
        'localhost:1:2',
        '127.0.0.2',
        '::1',
        '[::2]',
        '[::1',
        'localhost evil',
        '127.1',
        '0.0.0.0',
      ].map((host) => ({ host })),
    ],
    [421, [{}]],
    [
      403,
      [
        'null',
        'https://evil.com',
        'http://localhost.evil.com',
        'https://localhost',
        'https://localhost:3000',
        'https://127.0.0.1:6443',
        'file://',
        'chrome-extension://x',
        'https://localhost:6443/x',
        '',
      ].map((origin) => ({ host: 'localhost:6443', origin })),
    ],
    [200, ['https://localhost:6443', 'http://LOCALHOST:6443'].map((origin) => ({ host: 'localhost:6443', origin }))],
    [403, ['cross-site', 'same-site', 'anything'].map((site) => ({ host: 'localhost', 'sec-fetch-site': site }))],
    [200, ['same-origin', 'none'].map((site) => ({ host: 'localhost', 'sec-fetch-site': site }))],
    [421, [{ host: 'evil.com', origin: 'https://evil.com' }]],
  ]
  for (const [status, all] of statuses) {
    for (const headers of all)
      test(`answers ${status} to ${JSON.stringify(headers)}`, async () => {
        expect((await call(headers)).status).toBe(status)
      })
  }

  test('says no word to other sites', async () => {
    const { headers } = await call({ host: 'localhost', origin: 'https://evil.com' })
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([])
  })
})
