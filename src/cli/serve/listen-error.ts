import { hasErrorCode } from '../../lib/file-system.ts';

/** The address of a listener, and the name of the setting for its port. */
export interface ListenerSettings {
  readonly setting: 'PORT' | 'CONSOLE_PORT';
  readonly host: string;
  readonly port: number;
}

/** Why a listener cannot use its address, with the setting to change: at a start and in `serve --check`. */
export function describeListenError({ setting, host, port }: ListenerSettings, error: unknown): string {
  const hostSetting = setting === 'PORT' ? 'HOST' : 'CONSOLE_HOST';
  if (hasErrorCode(error, 'ENOTFOUND', 'EAI_AGAIN')) {
    return `${hostSetting}: "${host}" is not an IP address, and no address is known for this name`;
  }
  if (hasErrorCode(error, 'EADDRNOTAVAIL', 'EINVAL'))
    return `${hostSetting}: ${host} is not an address of this machine`;
  if (hasErrorCode(error, 'EADDRINUSE')) {
    return `${setting}: ${port} on ${host} is used by another process. Choose another one`;
  }
  if (hasErrorCode(error, 'EACCES')) {
    return `${setting}: this user may not use ${port} on ${host}. Choose a port from 1024 on`;
  }
  return `${setting}: ${error instanceof Error ? error.message : String(error)}`;
}
