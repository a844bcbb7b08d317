/**
 * Service account tokens: requests, claims, audiences and invalidation.
 */
import assert from 'node:assert/strict'
import { createPublicKey, verify } from 'node:crypto'
import type { JsonWebKey } from 'node:crypto'
import type { Answer } from '../../answer.ts'
import { Client } from '../../client.ts'
import { eventually } from '../../custom.ts'
import { expectMatch, expectStatus, ok } from '../../expect.ts'
import { sample } from '../../samples.ts'
import type { Fields } from '../../samples.ts'
import type { Place, ServerCase } from '../../target.ts'

const account = { metadata: { name: 'robot' } }
const robot = (place: Place): string => `system:serviceaccount:${place.namespace}:robot`

interface Signed {
  readonly header: { readonly alg: string; readonly kid: string }
  readonly claims: Readonly<Record<string, unknown>> & {
    readonly aud: readonly string[]
    readonly exp: number
    readonly iat: number
    readonly iss: string
  }
  readonly text: string
  readonly signature: Buffer
}

function read(token: string): Signed {
  const [head = '', body = '', tail = ''] = token.split('.')
  const parsed = (text: string): unknown => JSON.parse(Buffer.from(text, 'base64url').toString())
  return {
    header: parsed(head) as Signed['header'],
    claims: parsed(body) as Signed['claims'],
    text: `${head}.${body}`,
    signature: Buffer.from(tail, 'base64url'),
  }
}

function request(
  place: Place,
  spec: Fields = {},
  { metadata = {}, name = 'robot' }: { metadata?: Fields; name?: string } = {},
): Promise<Answer> {
  return place.client.request('POST', place.path('serviceaccounts', `${name}/token`), {
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', metadata, spec },
  })
}

/** A service account and a token for it. */
async function tokenOf(place: Place, spec: Fields = {}): Promise<string> {
  await place.post('serviceaccounts', account)
  return String(ok(await request(place, spec), 201).status['token'])
}

function ask(place: Place, spec: Fields): Promise<Answer> {
  return place.client.request('POST', '/apis/authentication.k8s.io/v1/tokenreviews', {
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec },
  })
}

async function review(place: Place, token: string, audiences?: readonly string[]): Promise<Fields> {
  return ok(await ask(place, { token, ...(audiences && { audiences }) }), 201).status
}

/** A server may cache a valid token for a short time. */
async function untilWorthless(place: Place, token: string): Promise<void> {
  await eventually(
    () => ask(place, { token }),
    ({ json }) => json.status['authenticated'] !== true,
  )
}

const requests: readonly ServerCase[] = [
  {
    id: 'server/tokens/request',
    rule: 'A TokenRequest returns a token for the service account, valid for one hour by default.',
    async run(place) {
      const {
        metadata: { uid },
      } = ok(await place.post('serviceaccounts', account), 201)
      const { metadata, spec, status } = ok(await request(place), 201)
      expectMatch(metadata, { name: 'robot', namespace: place.namespace, uid })
      expectMatch(spec, { expirationSeconds: 3600, boundObjectRef: null })
      const { claims } = read(String(status['token']))
      expectMatch(claims, {
        aud: spec['audiences'],
        sub: robot(place),
        nbf: claims.iat,
        exp: claims.iat + 3600,
        jti: /^[0-9a-f-]{36}$/,
        'kubernetes.io': { namespace: place.namespace, serviceaccount: { name: 'robot', uid } },
      })
      assert.ok(claims.aud.includes(claims.iss))
    },
  },
  {
    id: 'server/tokens/audiences-and-life',
    rule: 'A token has the requested audiences and lifetime.',
    async run(place) {
      const { claims } = read(await tokenOf(place, { audiences: ['vault', 'other'], expirationSeconds: 601 }))
      expectMatch(claims, { aud: ['vault', 'other'], exp: claims.iat + 601 })
    },
  },
  {
    id: 'server/tokens/limits',
    rule: 'A token lives at least ten minutes and at most 2^32 seconds.',
    async run(place) {
      ok(await place.post('serviceaccounts', account), 201)
      expectStatus(await request(place, { expirationSeconds: 599 }), {
        code: 422,
        reason: 'Invalid',
        message:
          'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes',
      })
      expectStatus(await request(place, { expirationSeconds: 4_294_967_297 }), {
        code: 422,
        message: /may not specify a duration larger than 2\^32 seconds$/,
      })
    },
  },
  {
    id: 'server/tokens/names',
    rule: 'Name, namespace and uid in a TokenRequest must match the service account.',
    async run(place) {
      ok(await place.post('serviceaccounts', account), 201)
      ok(await request(place, {}, { metadata: { name: 'robot', namespace: place.namespace } }), 201)
      expectStatus(await request(place, {}, { metadata: { name: 'other' } }), {
        code: 422,
        message:
          'TokenRequest.authentication.k8s.io "robot" is invalid: metadata.name: Invalid value: "other": must match the service account name if specified',
      })
      expectStatus(await request(place, {}, { metadata: { namespace: 'other' } }), {
        code: 400,
        message: 'the namespace of the provided object does not match the namespace sent on the request',
      })
      expectStatus(await request(place, {}, { metadata: { uid: 'other' } }), {
        code: 409,
        reason: 'Conflict',
        message:
          /^Operation cannot be fulfilled on TokenRequest\.authentication\.k8s\.io "robot": the UID in the token request \(other\) does not match the UID of the service account/,
      })
      expectStatus(await request(place, {}, { name: 'nobody' }), {
        code: 404,
        message: 'serviceaccounts "nobody" not found',
      })
    },
  },
  {
    id: 'server/tokens/bound-refused',
    rule: 'A token can be bound only to an existing Secret, Node or Pod of the service account.',
    async run(place) {
      ok(await place.post('serviceaccounts', account), 201)
      const bound = (kind: string, rest: Fields = {}): Promise<Answer> =>
        request(place, { boundObjectRef: { apiVersion: 'v1', kind, name: place.unique('x'), ...rest } })
      expectStatus(await bound('Pod'), { code: 404, message: `pods "${place.unique('x')}" not found` })
      expectStatus(await bound('Secret'), { code: 404, message: `secrets "${place.unique('x')}" not found` })
      expectStatus(await bound('Node'), { code: 404, message: `nodes "${place.unique('x')}" not found` })
      expectStatus(await bound('ConfigMap'), {
        code: 400,
        message: 'cannot bind token to object of type /v1, Kind=ConfigMap',
      })
      ok(await place.post('secrets', { metadata: { name: place.unique('x') } }), 201)
      expectStatus(await bound('Secret', { uid: 'other' }), {
        code: 409,
        reason: 'Conflict',
        message:
          /the UID in the bound object reference \(other\) does not match the UID in record\. The object might have been deleted and then recreated$/,
      })
      ok(await place.post('pods', sample('pods', place.unique('x'))), 201)
      expectStatus(await bound('Pod'), {
        code: 400,
        message: 'cannot bind token for serviceaccount "robot" to pod running with different serviceaccount name.',
      })
    },
  },
  {
    id: 'server/tokens/only-posted',
    rule: 'A token can only be created.',
    async run(place) {
      ok(await place.post('serviceaccounts', account), 201)
      for (const method of ['GET', 'PUT', 'DELETE'])
        expectStatus(await place.client.request(method, place.path('serviceaccounts', 'robot/token')), {
          code: 405,
          reason: 'MethodNotAllowed',
        })
    },
  },
]

const reviews: readonly ServerCase[] = [
  {
    id: 'server/tokens/review',
    rule: 'A TokenReview returns the user of a token and the audiences it is valid for.',
    async run(place) {
      const [own, vault] = [await tokenOf(place), await tokenOf(place, { audiences: ['vault', 'other'] })]
      const user = {
        username: robot(place),
        groups: ['system:serviceaccounts', `system:serviceaccounts:${place.namespace}`, 'system:authenticated'],
      }
      const { claims } = read(own)
      expectMatch(await review(place, own), {
        authenticated: true,
        user: { ...user, extra: { 'authentication.kubernetes.io/credential-id': [`JTI=${String(claims['jti'])}`] } },
        audiences: claims.aud,
      })
      expectMatch(await review(place, vault, ['more', 'vault']), { authenticated: true, user, audiences: ['vault'] })
      expectMatch(await review(place, vault), {
        authenticated: undefined,
        user: {},
        error: `[invalid bearer token, token audiences ["vault" "other"] is invalid for the target audiences [${claims.aud.map((one) => JSON.stringify(one)).join(' ')}]]`,
      })
    },
  },
  {
    id: 'server/tokens/review-unknown',
    rule: 'A TokenReview of an unknown token returns an error in its status, and one without a token is rejected.',
    async run(place) {
      expectMatch(await review(place, 'nobody-knows'), {
        authenticated: undefined,
        user: {},
        error: 'invalid bearer token',
      })
      const own = await tokenOf(place)
      expectMatch(
        await review(place, `${own.slice(0, own.lastIndexOf('.'))}.${Buffer.from('nothing').toString('base64url')}`),
        { authenticated: undefined, error: /^\[invalid bearer token, / },
      )
      expectStatus(await ask(place, {}), { code: 400, message: 'token is required for TokenReview in authentication' })
    },
  },
  {
    id: 'server/tokens/account-gone',
    rule: 'A token is invalid after its service account is deleted, even if another one has its name.',
    async run(place) {
      const token = await tokenOf(place)
      ok(await place.delete('serviceaccounts', 'robot'))
      await untilWorthless(place, token)
      ok(await place.post('serviceaccounts', account), 201)
      expectMatch(await review(place, token), { authenticated: undefined, error: /^\[invalid bearer token, / })
    },
  },
  {
    id: 'server/tokens/bound-object-gone',
    rule: 'A bound token is invalid after its object is deleted.',
    async run(place) {
      const {
        metadata: { uid },
      } = ok(await place.post('secrets', { metadata: { name: 'held' } }), 201)
      const token = await tokenOf(place, { boundObjectRef: { apiVersion: 'v1', kind: 'Secret', name: 'held', uid } })
      expectMatch(read(token).claims['kubernetes.io'], { secret: { name: 'held', uid } })
      ok(await place.delete('secrets', 'held'))
      await untilWorthless(place, token)
    },
  },
  {
    id: 'server/tokens/of-a-pod',
    rule: 'A token bound to a Pod names the Pod and its node.',
    async run(place) {
      ok(await place.post('serviceaccounts', account), 201)
      const pod = sample('pods', 'p') as { readonly spec: Fields }
      const {
        metadata: { uid },
      } = ok(
        await place.post('pods', { ...pod, spec: { ...pod.spec, serviceAccountName: 'robot', nodeName: 'nowhere' } }),
        201,
      )
      const token = await tokenOf(place, { boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'p' } })
      expectMatch(read(token).claims['kubernetes.io'], {
        pod: { name: 'p', uid },
        node: { name: 'nowhere', uid: undefined },
      })
      expectMatch((await review(place, token))['user'], {
        extra: {
          'authentication.kubernetes.io/pod-name': ['p'],
          'authentication.kubernetes.io/pod-uid': [uid],
          'authentication.kubernetes.io/node-name': ['nowhere'],
        },
      })
    },
  },
  {
    id: 'server/tokens/caller',
    rule: 'A request with a service account token is authenticated as that service account.',
    needs: ['authentication'],
    async run(place) {
      const caller = new Client(place.target.send, { headers: { authorization: `Bearer ${await tokenOf(place)}` } })
      const { status } = ok(
        await caller.request('POST', '/apis/authentication.k8s.io/v1/selfsubjectreviews', {
          body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
        }),
        201,
      )
      expectMatch(status, {
        userInfo: {
          username: robot(place),
          groups: ['system:serviceaccounts', `system:serviceaccounts:${place.namespace}`, 'system:authenticated'],
        },
      })
      expectStatus(await caller.request('GET', place.path('secrets')), {
        code: 403,
        message: `secrets is forbidden: User "${robot(place)}" cannot list resource "secrets" in API group "" in the namespace "${place.namespace}"`,
      })
    },
  },
  {
    id: 'server/tokens/for-others-only',
    rule: 'A token for other audiences is rejected.',
    needs: ['authentication'],
    async run(place) {
      const caller = new Client(place.target.send, {
        headers: { authorization: `Bearer ${await tokenOf(place, { audiences: ['vault'] })}` },
      })
      expectStatus(await caller.request('GET', place.path('secrets')), { code: 401, reason: 'Unauthorized' })
    },
  },
  {
    id: 'server/tokens/discovery',
    rule: 'Token verifiers can discover the issuer and its keys: the published key verifies the signature.',
    async run(place) {
      const { header, claims, text, signature } = read(await tokenOf(place))
      const discovery = await place.client.request('GET', '/.well-known/openid-configuration')
      expectMatch(ok(discovery, 200), {
        issuer: claims.iss,
        jwks_uri: /^https:\/\/.*\/openid\/v1\/jwks$/,
        response_types_supported: ['id_token'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: [header.alg],
      })
      assert.equal(discovery.header('cache-control'), 'public, max-age=3600')
      const published = await place.client.request('GET', '/openid/v1/jwks')
      assert.equal(published.header('content-type'), 'application/jwk-set+json')
      const { keys } = JSON.parse(published.text) as { keys: readonly (JsonWebKey & { kid: string })[] }
      const jwk = keys.find(({ kid }) => kid === header.kid)
      assert.ok(jwk, `no key ${header.kid} in ${published.text}`)
      assert.ok(
        verify(
          'sha256',
          Buffer.from(text),
          { key: createPublicKey({ key: jwk, format: 'jwk' }), dsaEncoding: 'ieee-p1363' },
          signature,
        ),
      )
    },
  },
]

export const tokenCases: readonly ServerCase[] = [...requests, ...reviews]
