// SPDX-License-Identifier: Apache-2.0
/// The settings of a world by their names, as scenes, run files and the command have them: "time_step",
/// "solver.tolerance", "integrator.theta". For forms, command lines and other languages.
#ifndef CAIRN_SETTINGS_H
#define CAIRN_SETTINGS_H

#include <cairn/world.h>

#ifdef __cplusplus
extern "C" {
#endif

/// What a setting is.
typedef enum CnSettingType {
  CN_SETTING_REAL = 0,
  CN_SETTING_INTEGER,
  CN_SETTING_FLAG,  ///< 0 or 1; as text "false" and "true"
  CN_SETTING_WORD,  ///< one of the words that cn_setting_word lists
  CN_SETTING_VECTOR ///< three numbers; as text with commas between them
} CnSettingType;

/// A setting and what it means.
typedef struct CnSettingInfo {
  char name[64];
  CnSettingType type;
  const char *unit;     ///< "" without one
  const char *sentence; ///< what it means
} CnSettingInfo;

/// Setting `index`, counted from 0; CN_INVALID_ARGUMENT past the last one.
CN_API CnStatus cn_setting_info(int32_t index, CnSettingInfo *info);

/// Word `word` of setting `index`, null past the last one and where it is no word.
CN_API const char *cn_setting_word(int32_t index, int32_t word);

/// The number of the setting of that name; -1: there is none.
CN_API int32_t cn_setting_find(const char *name);

/// What a setting is now.
typedef struct CnSettingValue {
  double numbers[3]; ///< one of them but for a vector; of a word its number in the list
  const char *word;  ///< null: it is none
} CnSettingValue;

/// The value in a definition, of cn_world_settings or one's own.
CN_API CnStatus cn_setting_get(const CnWorldDef *def, int32_t index, CnSettingValue *value);

/// Set a value as a person types it: "1e-3", "true", "auto", "0,0,-9.81". What does not fit is refused with a
/// sentence (CN_INVALID_ARGUMENT), and the definition is as it was.
CN_API CnStatus cn_setting_set(CnWorldDef *def, int32_t index, const char *text);

#ifdef __cplusplus
}
#endif
#endif
