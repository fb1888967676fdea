import { expect, it } from 'vitest';
import { describeListenError } from './listen-error.ts';

it('says what to do about a port that needs more rights', () => {
  const refused = Object.assign(new Error('listen EACCES: permission denied 0.0.0.0:80'), { code: 'EACCES' });
  expect(describeListenError({ setting: 'PORT', host: '0.0.0.0', port: 80 }, refused)).toBe(
    'PORT: this user may not use 80 on 0.0.0.0. Choose a port from 1024 on',
  );
});
