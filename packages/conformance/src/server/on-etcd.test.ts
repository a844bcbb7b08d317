import { whyNoEtcd } from '../targets/etcd-process.ts'
import { judge } from './judge.fixture.ts'
import { onEtcd } from './stores.fixture.ts'

judge('evenkeel on etcd', { start: onEtcd, unavailable: whyNoEtcd() })
