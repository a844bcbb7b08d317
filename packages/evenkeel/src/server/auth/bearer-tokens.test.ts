import { expect, test } from 'vitest'
import { BearerTokenAuthenticator, type TokenAuthenticator } from './bearer-tokens.ts'
import { staticTokens } from './static-tokens.ts'

const ann = { name: 'ann', groups: ['dev'] }
const known = staticTokens([{ token: 'secret', user: ann }], ['us'])
const later =
  (answer: Awaited<ReturnType<TokenAuthenticator>>): TokenAuthenticator =>
  () =>
    Promise.resolve(answer)

function userOf(tokens: BearerTokenAuthenticator, authorization?: string): unknown {
  return tokens.authenticator({ request: { headers: authorization === undefined ? {} : { authorization } } } as never)
}

test('BearerTokens knows a caller by its token, and puts it among those who were recognized', () => {
  const tokens = new BearerTokenAuthenticator([known], ['us'])
  for (const header of ['Bearer secret', 'bearer secret', ' Bearer secret ', 'Bearer secret more'])
    expect(userOf(tokens, header), header).toEqual({ name: 'ann', groups: ['dev', 'system:authenticated'] })
  for (const header of [
    undefined,
    '',
    'Bearer',
    'Bearer ',
    'Bearer  secret',
    'Basic secret',
    'secret',
    'Bearer secre',
    'Bearer secrett',
    'Bearer SECRET',
  ])
    expect(userOf(tokens, header), header).toBeUndefined()
})

test('BearerTokens asks in turn until one knows the token, waiting only for who needs time', async () => {
  const tokens = new BearerTokenAuthenticator([later({ error: 'too old' }), later(undefined), known], ['us'])
  expect(await tokens.review('secret')).toEqual({
    user: { name: 'ann', groups: ['dev', 'system:authenticated'] },
    audiences: ['us'],
  })
  expect(await tokens.review('other')).toEqual({ error: '[invalid bearer token, too old]' })
  expect(new BearerTokenAuthenticator([known], ['us']).review('other')).toEqual({ error: 'invalid bearer token' })
})

test('staticTokens are for this server and for nobody else', () => {
  const tokens = new BearerTokenAuthenticator([known], ['us'])
  expect(tokens.review('secret', ['others', 'us'])).toMatchObject({ audiences: ['us'] })
  expect(tokens.review('secret', ['others'])).toEqual({ error: 'invalid bearer token' })
})
