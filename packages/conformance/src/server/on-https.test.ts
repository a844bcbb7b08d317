import { judge } from './judge.fixture.ts'
import { evenkeelOverHttps, overHttpsLacks } from './targets/evenkeel.ts'

judge('evenkeel over HTTPS', { start: evenkeelOverHttps, lacks: overHttpsLacks })
