import { expect, test } from 'vitest'
import { convertHttp2Head } from './http2-connection.ts'

test('convertHttp2Head takes the target * for OPTIONS alone', () => {
  const fields = (method: string): Record<string, string> => ({ ':method': method, ':path': '*', host: 'h' })
  expect(convertHttp2Head(fields('OPTIONS'), [])).toMatchObject({ method: 'OPTIONS', target: '*' })
  expect(() => convertHttp2Head(fields('GET'), [])).toThrow('the request target is not a path')
})
