import { expect, test } from 'vitest'
import { Metrics } from '#base'
import { countRequests } from './cluster.ts'

test('countRequests counts every answer by its code, and what got none', async () => {
  const metrics = new Metrics()
  const signal = new AbortController().signal
  const answers = [200, 200, 409, undefined]
  const counted = countRequests(
    () => {
      const status = answers.shift()
      return status === undefined ? Promise.reject(new Error('cut off')) : Promise.resolve({ status, headers: {} })
    },
    metrics,
    { host: 'example.com:6443' },
  )
  const ask = (method: string): Promise<number> =>
    counted({ method, target: '/api', headers: {}, signal }).then(({ status }) => status)
  expect([await ask('GET'), await ask('GET'), await ask('PUT')]).toEqual([200, 200, 409])
  await expect(ask('GET')).rejects.toThrow('cut off')
  expect(
    metrics
      .render()
      .split('\n')
      .filter((line) => line.startsWith('rest_client')),
  ).toEqual([
    'rest_client_requests_total{code="200",host="example.com:6443",method="GET"} 2',
    'rest_client_requests_total{code="409",host="example.com:6443",method="PUT"} 1',
    'rest_client_requests_total{code="<error>",host="example.com:6443",method="GET"} 1',
  ])
})
