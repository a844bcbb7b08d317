import { judge } from './judge.fixture.ts'
import { evenkeelWithCbor } from './targets/evenkeel.ts'

// CBOR is off by default, as in Kubernetes: the other tests here run on servers without it.
judge('evenkeel with CBOR', {
  start: evenkeelWithCbor,
  lacks: {},
  only: ({ needs = [] }) => needs.includes('cbor'),
})
