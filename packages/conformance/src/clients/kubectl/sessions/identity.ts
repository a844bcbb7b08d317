/**
 * Identity: service account tokens and impersonation.
 */
import type { Session } from '../session.ts'
import { fails, says } from '../steps.ts'

export const identity: Session = {
  name: 'identity',
  steps: [
    says('create sa robot', 'serviceaccount/robot created'),
    { run: 'create token robot', since: '1.24', keep: '$TOKEN', expect: { out: /^eyJ[\w-]+\.[\w-]+\.[\w-]+\s*$/ } },
    says('create token robot --duration=20m --audience=vault --audience=other', /^eyJ/, { since: '1.24' }),
    says(
      'create token robot -o jsonpath={.kind}/{.spec.expirationSeconds}/{.metadata.name}',
      'TokenRequest/3600/robot',
      { since: '1.24' },
    ),
    fails(
      'create token robot --duration=5m',
      /TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 300: may not specify a duration less than 10 minutes/,
      { since: '1.24' },
    ),
    fails('create token nobody', 'error: failed to create token: serviceaccounts "nobody" not found', {
      since: '1.24',
    }),
    says('create secret generic held', 'secret/held created'),
    says('create token robot --bound-object-kind=Secret --bound-object-name=held', /^eyJ/, { since: '1.24' }),
    fails(
      'create token robot --bound-object-kind=Secret --bound-object-name=none',
      'error: failed to create token: secrets "none" not found',
      { since: '1.24' },
    ),
    says('auth whoami -o jsonpath={.status.userInfo.username} --token=$TOKEN', 'system:serviceaccount:$NS:robot', {
      since: '1.28',
    }),
    fails(
      'get secrets --token=$TOKEN',
      'Error from server (Forbidden): secrets is forbidden: User "system:serviceaccount:$NS:robot" cannot list resource "secrets" in API group "" in the namespace "$NS"',
      { since: '1.24' },
    ),
    says(
      'auth whoami --as=jane --as-group=devs --as-group=ops',
      ['ATTRIBUTE VALUE', 'Username jane', 'Groups [devs ops system:authenticated]'],
      { since: '1.28' },
    ),
    says(
      'auth whoami --as=system:serviceaccount:$NS:robot -o jsonpath={.status.userInfo.groups}',
      '["system:serviceaccounts","system:serviceaccounts:$NS","system:authenticated"]',
      { since: '1.28' },
    ),
    fails(
      'get secrets --as=jane',
      'Error from server (Forbidden): secrets is forbidden: User "jane" cannot list resource "secrets" in API group "" in the namespace "$NS"',
    ),
    says('get sa robot -o name --as=jane --as-group=system:masters', 'serviceaccount/robot'),
    fails('get secrets --token=$TOKEN --as=jane', /cannot impersonate/, { since: '1.24' }),
    says('create role reader --verb=get --resource=serviceaccounts', 'role.rbac.authorization.k8s.io/reader created'),
    says(
      'create rolebinding reader --role=reader --serviceaccount=$NS:robot',
      'rolebinding.rbac.authorization.k8s.io/reader created',
    ),
    says('get rolebinding reader -o name', 'rolebinding.rbac.authorization.k8s.io/reader'),
    says('get sa robot -o name --token=$TOKEN', 'serviceaccount/robot', { since: '1.24' }),
  ],
}
