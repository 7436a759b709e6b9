#include "taken_names.h"

#include <sstream>

namespace {

/// Keywords of C99, C11 and C23.
const char *const keywords = R"(
    auto break case char const continue default do double else enum extern float for goto if
    inline int long register restrict return short signed sizeof static struct switch typedef
    union unsigned void volatile while alignas alignof bool constexpr false nullptr
    static_assert thread_local true typeof typeof_unqual asm _Alignas _Alignof _Atomic _Bool
    _Complex _Generic _Imaginary _Noreturn _Static_assert _Thread_local _BitInt _Decimal32
    _Decimal64 _Decimal128)";

/// Those that C++ adds.
const char *const cpp_keywords = R"(
    and and_eq bitand bitor catch char8_t char16_t char32_t class compl concept const_cast
    consteval constinit co_await co_return co_yield decltype delete dynamic_cast explicit export
    friend mutable namespace new noexcept not not_eq operator or or_eq private protected public
    reinterpret_cast requires static_cast template this throw try typeid typename using virtual
    wchar_t xor xor_eq linux unix)";

/// Headers of C, C++ and POSIX.
const char *const headers = R"(
    assert complex ctype errno fenv inttypes iso646 limits locale math setjmp signal stdalign
    stdarg stdatomic stdbit stdbool stdckdint stddef stdint stdio stdlib stdnoreturn string
    strings tgmath threads time uchar wchar wctype memory malloc alloca unistd fcntl dirent
    dlfcn pthread poll sched semaphore spawn syslog termios regex glob grp pwd netdb iconv elf
    link features endian paths search values wait)";

/// Types and macros of them that the wrapper uses.
const char *const types = R"(
    NULL EOF size_t ptrdiff_t ssize_t max_align_t nullptr_t va_list int8_t int16_t int32_t
    int64_t uint8_t uint16_t uint32_t uint64_t intptr_t uintptr_t intmax_t uintmax_t FILE I std
    selvage Kernel)";

/// Functions of C and POSIX.
const char *const functions = R"(
    main abort abs acos acosh aligned_alloc asctime asin asinh atan atan2 atanh atexit atof atoi
    atol atoll bsearch calloc cbrt ceil clearerr clock copysign cos cosh ctime difftime div erf
    erfc exit exp exp2 expm1 fabs fclose fdim feof ferror fflush fgetc fgetpos fgets floor fma
    fmax fmin fmod fopen fprintf fputc fputs fread free freopen frexp fscanf fseek fsetpos ftell
    fwrite getc getchar getenv gets gmtime hypot ilogb isalnum isalpha isblank iscntrl isdigit
    isgraph islower isprint ispunct isspace isupper isxdigit labs ldexp ldiv lgamma llabs lldiv
    llrint llround localeconv localtime log log10 log1p log2 logb longjmp lrint lround mblen
    mbstowcs mbtowc memccpy memchr memcmp memcpy memmove memset mktime modf nan nearbyint
    nextafter nexttoward perror pow powf printf putc putchar puts qsort quick_exit raise rand
    realloc remove remainder remquo rename rewind rint round scalbln scalbn scanf setbuf
    setlocale setvbuf sin sinf sinh snprintf sprintf sqrt sqrtf srand sscanf strcat strchr
    strcmp strcoll strcpy strcspn strdup strerror strftime strlen strncat strncmp strncpy
    strnlen strpbrk strrchr strspn strstr strtod strtof strtok strtol strtold strtoll strtoul
    strtoull strxfrm system tan tanh tgamma tmpfile tmpnam tolower toupper trunc ungetc vfprintf
    vprintf vscanf vsnprintf vsprintf wcstombs wctomb accept access bind brk chdir chmod chown
    close connect dup dup2 environ execv fork fstat getpid ioctl kill listen lseek mkdir mmap
    mprotect munmap open pause pipe read recv rmdir sbrk select send sleep socket stat write)";

} // namespace

bool is_taken_name(const std::string &name) {
    for (const char *const words : {keywords, cpp_keywords, headers, types, functions}) {
        std::istringstream stream(words);
        for (std::string word; stream >> word;)
            if (word == name)
                return true;
    }
    return false;
}
